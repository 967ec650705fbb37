"""The study: small transformers driven into rank collapse by a weakened skip connection, and what repairs them."""
