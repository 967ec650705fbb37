"""Forward and backward through a stack behind one interface: by the kernel on a CPU, in PyTorch on everything else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import torch

from rankcollapse import kernel
from rankcollapse.model import QUERY_KEY, Shape, attention_scores, block_weights, embed, residual_stream, token_losses, views

PRECISIONS = {"float32": None, "tf32": None, "bf16": torch.bfloat16}
"""Arithmetic of the trunk on a GPU; on a CPU everything but bf16 is float32."""


def run_forward(
    flat_MP: torch.Tensor, tokens_MBT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape, precision: str = "float32"
) -> TorchPass | KernelPass:
    """A forward pass on tokens (M, B, T+1) that can be gone back through; in the precision of the weights (M, P)."""
    if kernel.available(flat_MP) and PRECISIONS[precision] is None:
        return KernelPass(flat_MP, tokens_MBT, skip_M, kinds, shape)
    return TorchPass(flat_MP, tokens_MBT, skip_M, kinds, shape, precision)


@torch.no_grad()
def run_last(
    flat_MP: torch.Tensor, tokens_MBT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape
) -> tuple[torch.Tensor, torch.Tensor]:
    """The last block's residual stream (M, N, D) and the mean loss (M,) in nats per token, in the precision of the weights."""
    if kernel.available(flat_MP):
        return KernelPass.read(flat_MP, tokens_MBT, skip_M, kinds, shape)
    torch.backends.cuda.matmul.allow_tf32 = False
    named = views(flat_MP, shape)
    last = residual_stream(named, tokens_MBT[..., :-1], skip_M, kinds, shape)[-1]
    return last, token_losses(named, last, tokens_MBT[..., 1:])


class TorchPass:
    """A forward pass in PyTorch, on any device."""

    def __init__(self, flat_MP: torch.Tensor, tokens_MBT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape, precision: str):
        reduced = PRECISIONS[precision]
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        self.leaves = {name: weight.detach().requires_grad_() for name, weight in views(flat_MP, shape).items()}
        self.tokens, self.kinds, self.shape = tokens_MBT, kinds, shape
        with torch.autocast(flat_MP.device.type, reduced) if reduced else nullcontext():
            self.blocks = [x.float() if reduced else x for x in residual_stream(self.leaves, tokens_MBT[..., :-1], skip_M, kinds, shape)]
        self.losses = token_losses(self.leaves, self.blocks[-1], tokens_MBT[..., 1:])
        self.stream, self.loss = torch.stack([x.detach() for x in self.blocks]), self.losses.detach()

    def backward(
        self, share_M: torch.Tensor, added_LMND: torch.Tensor | None = None, again: bool = False, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Gradient (M, P) of share * loss, plus what `added` (the gradient of another loss) brings at every block.

        With `again` the pass may be gone back through once more. `out` is room for the result, where it can be used.
        """
        outputs, weights = [self.losses], [share_M]
        if added_LMND is not None:
            outputs, weights = [*outputs, *self.blocks], [share_M, *added_LMND]
        leaves = list(self.leaves.values())
        grads = torch.autograd.grad(outputs, leaves, weights, retain_graph=again, allow_unused=True)
        return torch.cat([(torch.zeros_like(leaf) if grad is None else grad).flatten(1) for leaf, grad in zip(leaves, grads, strict=True)], 1)


    @torch.no_grad()
    def top_logits(self, asked_M: torch.Tensor) -> torch.Tensor:
        """Largest score (M, L, H) that a query gives to a key it sees, over the pass's batch; -inf for models that did not ask."""
        inputs = [embed(self.leaves, self.tokens[..., :-1], self.shape), *self.stream[:-1]]
        top = [
            attention_scores(x, block_weights(self.leaves, index), self.kinds, self.shape, self.tokens.shape[1]).amax((1, 3, 4))
            for index, x in enumerate(inputs)
        ]
        return torch.where(asked_M.view(-1, 1, 1), torch.stack(top, 1), -torch.inf)


class KernelPass:
    """A forward pass by the kernel, on a CPU."""

    spare: list[torch.Tensor] = []
    """Large buffers between passes: the system clears fresh memory, which takes as long as a fifth of a step."""

    def __init__(self, flat_MP: torch.Tensor, tokens_MBT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape):
        self.set_up(flat_MP, tokens_MBT, skip_M, kinds, shape)
        dtype, models = self.flat.dtype, len(self.flat)
        self.size, rows = kept_size(shape, self.sequences, self.length, dtype), self.sequences * self.length
        self.buffers = [self.borrow(models * self.size, dtype), self.borrow(shape.depth * models * rows * shape.width, dtype)]
        self.keep = self.buffers[0]
        self.stream = self.buffers[1][: shape.depth * models * rows * shape.width].view(shape.depth, models, rows, shape.width)
        self.loss: torch.Tensor | None = None
        self.run("forward", lambda part: (self.stream[0, part], self.stream.stride(0), self.keep[part.start * self.size :], self.size, None))

    def top_logits(self, asked_M: torch.Tensor) -> torch.Tensor:
        """As `TorchPass.top_logits`, from what the pass has kept."""
        shape, asked = self.shape, asked_M.to(self.flat.dtype)
        top = self.flat.new_empty(len(self.flat), shape.depth, shape.heads)

        def work(part: slice) -> int:
            kept = self.keep[part.start * self.size :]
            return kernel.call("top_logits", self.flat, self.dimensions(part), self.flat[part], self.treat[part], asked[part], kept, self.size, top[part])

        kernel.share_out(len(self.flat), work)
        return top

    @classmethod
    def read(cls, *arguments: object) -> tuple[torch.Tensor, torch.Tensor]:
        """The last block's stream and the loss alone; nothing is kept."""
        self = cls.__new__(cls)
        self.set_up(*arguments)
        self.keep, self.buffers = None, []
        last = self.flat.new_empty(len(self.flat), self.sequences * self.length, self.shape.width)
        loss = torch.empty(len(self.flat), dtype=torch.float64)
        self.run("forward", lambda part: (last[part], 0, None, 0, loss[part]))
        return last, loss

    @classmethod
    def borrow(cls, size: int, dtype: torch.dtype) -> torch.Tensor:
        """A buffer of at least this size; it comes back when the pass is gone."""
        for index, buffer in enumerate(cls.spare):
            if buffer.dtype == dtype and size <= len(buffer) <= 2 * size:
                return cls.spare.pop(index)
        cls.spare.clear()  # of another stack
        return torch.empty(size, dtype=dtype)

    def set_up(self, flat_MP: torch.Tensor, tokens_MBT: torch.Tensor, skip_M: torch.Tensor, kinds: Sequence[str], shape: Shape) -> None:
        """Arguments as the kernel wants them."""
        self.flat, self.tokens, self.skip, self.shape = flat_MP.contiguous(), tokens_MBT.contiguous(), skip_M.to(flat_MP.dtype).contiguous(), shape
        self.treat = torch.tensor([QUERY_KEY[kind].numbers(shape.head_size) for kind in kinds], dtype=flat_MP.dtype)
        self.sequences, self.length = tokens_MBT.shape[1], tokens_MBT.shape[2] - 1

    def dimensions(self, part: slice) -> kernel.Dimensions:
        """Of a call for a slice of the models."""
        shape = self.shape
        sizes = (shape.depth, shape.width, shape.heads, shape.context, shape.vocabulary, self.sequences, self.length, part.stop - part.start, shape.size)
        return kernel.Dimensions(*sizes)

    def run(self, name: str, rest) -> None:
        """Call a pass of the kernel for slices of the models; `rest` gives a slice's further arguments."""

        def work(part: slice) -> int:
            return kernel.call(name, self.flat, self.dimensions(part), self.flat[part], self.tokens[part], self.skip[part], self.treat[part], *rest(part))

        kernel.share_out(len(self.flat), work)

    def backward(
        self, share_M: torch.Tensor, added_LMND: torch.Tensor | None = None, again: bool = False, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """As `TorchPass.backward`; sets `loss`."""
        grad = torch.empty_like(self.flat) if out is None else out
        self.loss = torch.empty(len(self.flat), dtype=torch.float64)
        share, added = share_M.to(self.flat.dtype).contiguous(), None if added_LMND is None else added_LMND.to(self.flat.dtype).contiguous()

        def rest(part: slice) -> tuple[object, ...]:
            kept = self.keep[part.start * self.size :]
            return (self.stream[0, part], self.stream.stride(0), kept, self.size, None if added is None else added[0, part], share[part], grad[part], self.loss[part])

        self.run("backward", rest)
        return grad

    def __del__(self) -> None:
        self.spare.extend(getattr(self, "buffers", ()))


def kept_size(shape: Shape, sequences: int, tokens: int, dtype: torch.dtype) -> int:
    """Numbers that a forward pass of one network keeps for its backward pass (`kept_row` in the kernel)."""
    width = shape.width
    row = kernel.pad(3 * width, dtype) + 2 * kernel.pad(width, dtype) + kernel.pad(4 * width, dtype) + 4 + 2 * shape.heads
    return sequences * tokens * (width + shape.depth * row)
