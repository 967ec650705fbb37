"""`audit witness`: ask an RFC 3161 authority for a time stamp of a committed seal, look at the answer, and store it."""

from __future__ import annotations

import hashlib
import http.client
import secrets
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from audit.anchoring import CURE, find_anchor, find_fault, is_installed, load_roots
from audit.context import Context
from audit.der import Malformed
from audit.finding import Refusal, escape
from audit.load import write_bytes
from audit.seal import refuse_attributes
from audit.standing import read_standing
from audit.timestamp import Token, make_request, parse_token
from audit.tokens import token_paths

SECONDS, LARGEST = 20.0, 1 << 20
QUERY, ANSWER = "application/timestamp-query", "application/timestamp-reply"


class Straight(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the address that was typed is the authority that is asked."""

    def redirect_request(self, *_: object) -> None:
        """None: a redirection stays the error it is."""
        return None


def main(name: str, url: str, roots: tuple[Path, ...] = ()) -> None:
    """Ask for a time stamp of a seal and write it beside the seal; whatever is strange writes nothing."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise Refusal(escape(url), "is no address of an authority", expected="http://... or https://...")
    context = Context.open(roots=roots)
    read_standing(context, name)
    seal = context.bytes_of(context.seal_path(name)) or b""
    taken = token_paths(context, name)
    path = next(path for number in range(1, len(taken) + 2) if (path := context.token_path(name, number)) not in taken)
    refuse_attributes(context, [path])
    nonce = secrets.randbits(63)
    answer = post(url, make_request(hashlib.sha256(seal).digest(), nonce))
    token = examine(answer, seal, nonce, url)
    worth = appraise(context, token)
    write_bytes(context.root / path, answer)
    print(f"{path}: the seal existed at {token.time:%Y-%m-%d %H:%M:%S} UTC, says {url}; {worth}")
    if taken:
        print("a second time stamp: seeds take the first that was committed, whatever comes later")
    print(f"now: git add {path} && git commit -m 'Witness {name}'   (before the run; a time stamp that is in no commit counts for nothing)")


def post(url: str, body: bytes) -> bytes:
    """The bytes an authority answers, within a time and a size; anything else is refused in one line."""
    request = urllib.request.Request(url, data=body, headers={"Content-Type": QUERY, "Accept": ANSWER})
    ends, cure = time.monotonic() + SECONDS, "try again, or another authority"
    try:
        with urllib.request.build_opener(Straight).open(request, timeout=SECONDS) as answer:
            parts, size = [], 0
            while part := answer.read1(1 << 16):
                parts.append(part)
                size += len(part)
                if size > LARGEST or time.monotonic() > ends:
                    raise Refusal(url, "gives no end of an answer", expected=f"at most {LARGEST} bytes in {SECONDS:.0f} s", cure=cure)
            return b"".join(parts)
    except urllib.error.HTTPError as error:
        raise Refusal(url, "answers with an error", observed=f"HTTP {error.code} {error.reason}", cure=cure) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise Refusal(url, "gives no answer", observed=str(reason) or type(error).__name__, cure=cure) from None


def examine(answer: bytes, seal: bytes, nonce: int, url: str) -> Token:
    """The token of an answer to this very request; what does not fit it is refused."""
    try:
        token = parse_token(answer)
        fault = None if token.nonce == nonce else "answers another request: the nonce is not the one that was sent"
        fault = fault or (find_fault(token, seal) if is_installed() else None if token.stamps(seal) else "stamps other bytes than the seal's")
    except ValueError as error:
        what = str(error) if isinstance(error, Malformed) and "granted no token" in str(error) else "answers with something that is no time stamp"
        raise Refusal(url, what, observed=str(error)[:200], cure="try another authority") from None
    if fault:
        raise Refusal(url, f"its time stamp {fault}", cure="try another authority")
    return token


def appraise(context: Context, token: Token) -> str:
    """What the token is worth here and now, in one clause."""
    if not is_installed():
        return f"its signature was not verified ({CURE})"
    reason = find_anchor(token, load_roots(context)[0])
    return f"unanchored here: {reason}" if reason else "anchored by your root"
