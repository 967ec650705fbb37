"""DER, as much of it as a time stamp needs: read strictly, never guessed, and written back in its one form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

INTEGER, OCTETS, OID, TIME, SEQUENCE, SET = 0x02, 0x04, 0x06, 0x18, 0x30, 0x31


class Malformed(ValueError):
    """Bytes that are not the structure they should be; truncated ones above all."""


@dataclass(frozen=True)
class Node:
    """One value: its tag, its contents, and all its bytes as they lie there."""

    tag: int
    body: bytes
    raw: bytes

    def parts(self) -> list[Node]:
        """The values inside a constructed one."""
        if not self.tag & 0x20:
            raise Malformed(f"tag {self.tag:#04x} holds no values")
        return list(_walk(self.body))

    def integer(self) -> int:
        """The number of an INTEGER."""
        self.expect(INTEGER)
        if not self.body:
            raise Malformed("an empty INTEGER")
        return int.from_bytes(self.body, "big", signed=True)

    def oid(self) -> str:
        """The dotted text of an OBJECT IDENTIFIER."""
        self.expect(OID)
        if not self.body or self.body[-1] & 0x80:
            raise Malformed("a cut OBJECT IDENTIFIER")
        numbers, value = [], 0
        for byte in self.body:
            value = value << 7 | byte & 0x7F
            if not byte & 0x80:
                numbers.append(value)
                value = 0
        first = min(numbers[0] // 40, 2)
        return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))

    def time(self) -> datetime:
        """The moment of a GeneralizedTime in UTC."""
        self.expect(TIME)
        text = self.body.decode("ascii", errors="replace")
        whole, _, fraction = text.removesuffix("Z").partition(".")
        if not text.endswith("Z") or len(whole) != 14 or not whole.isdecimal() or (fraction and not fraction.isdecimal()):
            raise Malformed(f"a time that is none: {text[:40]!r}")
        try:
            moment = datetime.strptime(whole, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            raise Malformed(f"a time that is none: {text[:40]!r}") from None
        return moment + timedelta(microseconds=int(fraction[:6].ljust(6, "0")))

    def expect(self, *tags: int) -> Node:
        """Itself, if its tag is one of these."""
        if self.tag not in tags:
            raise Malformed(f"tag {self.tag:#04x} where {' or '.join(f'{tag:#04x}' for tag in tags)} should be")
        return self


def read_der(data: bytes) -> Node:
    """The one value that these bytes are; anything behind it is refused."""
    nodes = list(_walk(data))
    if len(nodes) != 1:
        raise Malformed("no value" if not nodes else "bytes behind the value")
    return nodes[0]


def write_der(tag: int, *parts: bytes) -> bytes:
    """A value from its contents."""
    body = b"".join(parts)
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def write_integer(number: int) -> bytes:
    """A number, not negative, as INTEGER."""
    return write_der(INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def write_oid(dotted: str) -> bytes:
    """A dotted text as OBJECT IDENTIFIER."""
    first, second, *rest = map(int, dotted.split("."))
    body = bytearray()
    for number in (40 * first + second, *rest):
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(0x80 | number & 0x7F)
        body.extend(reversed(groups))
    return write_der(OID, bytes(body))


def _walk(data: bytes) -> Iterator[Node]:
    at = 0
    while at < len(data):
        tag, start, end = _header(data, at)
        yield Node(tag, data[start:end], data[at:end])
        at = end


def _header(data: bytes, at: int) -> tuple[int, int, int]:
    """Tag, start and end of the value at a place: one-byte tags, definite lengths in their shortest form."""
    if at + 2 > len(data):
        raise Malformed("the bytes end inside a value")
    tag, length, start = data[at], data[at + 1], at + 2
    if tag & 0x1F == 0x1F:
        raise Malformed("a tag of more than one byte")
    if length & 0x80:
        size = length & 0x7F
        digits = data[start : start + size]
        length = int.from_bytes(digits, "big")
        if not 1 <= size <= 4 or len(digits) < size or length < 0x80 or digits[0] == 0:
            raise Malformed("a length that is cut or not in its shortest form")
        start += size
    if start + length > len(data):
        raise Malformed("the bytes end inside a value")
    return tag, start, start + length
