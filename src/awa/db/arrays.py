"""Arrays on the hot path, written in PostgreSQL's binary format by one pass of C code.

The driver writes an array element by element in Python, which for small jobs costs more than the rest of the way to
the server. These wrappers say what the elements are and pack them at once. Use them with `%(name)b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from psycopg import adapters, pq
from psycopg.adapt import AdaptersMap, Dumper

_INT4_OID, _INT8_OID, _TEXT_OID = 23, 20, 25


class BinaryArray:
    """An array in PostgreSQL's binary format; made by the functions below."""

    __slots__ = ("payload",)

    def __init__(self, payload: bytes) -> None:
        self.payload = payload


class Int4Array(BinaryArray):
    """int4[]"""


class Int8Array(BinaryArray):
    """int8[]"""


class TextArray(BinaryArray):
    """text[]; `values` are what it was made of, for drivers that have a form of their own."""

    __slots__ = ("values",)

    def __init__(self, payload: bytes, values: Sequence[bytes]) -> None:
        super().__init__(payload)
        self.values = values


def int4_array(values: Sequence[int]) -> Int4Array:
    """Integers of 4 bytes, none of them None."""
    return Int4Array(_header(_INT4_OID, len(values)) + _packed("i", 4, values))


def int8_array(values: Sequence[int]) -> Int8Array:
    """Integers of 8 bytes, none of them None."""
    return Int8Array(_header(_INT8_OID, len(values)) + _packed("q", 8, values))


def text_array(values: Sequence[bytes]) -> TextArray:
    """Texts as UTF-8, none of them None."""
    parts = [_header(_TEXT_OID, len(values))]
    for value in values:
        parts.append(len(value).to_bytes(4, "big"))
        parts.append(value)
    return TextArray(b"".join(parts), values)


def _header(oid: int, length: int) -> bytes:
    """Dimensions, a flag for nulls, the type of the elements, then length and lower bound of the dimension."""
    return pack(">iiIii", 1, 0, oid, length, 1) if length else pack(">iiI", 0, 0, oid)


def _packed(code: str, size: int, values: Sequence[int]) -> bytes:
    fields = [size] * (2 * len(values))
    fields[1::2] = values
    return pack(">" + f"i{code}" * len(values), *fields)


class _ArrayDumper(Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: BinaryArray) -> bytes:
        return obj.payload


class _Int4ArrayDumper(_ArrayDumper):
    oid = 1007


class _Int8ArrayDumper(_ArrayDumper):
    oid = 1016


class _TextArrayDumper(_ArrayDumper):
    oid = 1009


def teach(context: AdaptersMap) -> None:
    """Have these arrays understood; a connection opened before this module was imported doesn't know them."""
    context.register_dumper(Int4Array, _Int4ArrayDumper)
    context.register_dumper(Int8Array, _Int8ArrayDumper)
    context.register_dumper(TextArray, _TextArrayDumper)


teach(adapters)
