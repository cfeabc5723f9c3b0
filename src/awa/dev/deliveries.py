"""The demo's real input: 255 webhook deliveries, signed as their sender would sign them.

Some are broken on purpose, always the same ones, so that the demo can say beforehand how its sums
must come out: see `trouble`. Where the data comes from stands in `data/NOTICE`.
"""

import gzip
import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

import orjson

from awa.storage.enqueue import NewJob

DATA_FILE: Final = "github-webhooks.ndjson.gz"
SIGNATURE_KEY: Final = "signature"
DELIVERY_KEY: Final = "delivery"
REPOSITORY_TAG: Final = "repo:"
NO_REPOSITORY: Final = "(no repository)"

_FORGERS_SECRET: Final = b"not the secret that was agreed on"


class Trouble(StrEnum):
    """What is wrong with a delivery on purpose."""

    NONE = "none"
    FORGED = "forged"
    """Signed with another secret: fails for good."""
    STUMBLES = "stumbles"
    """Its handler raises at the first attempt; the second, after the usual backoff, succeeds."""
    BUSY = "busy"
    """Its handler asks to be called again in a second at the first attempt."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One line of the data file."""

    kind: str
    tags: tuple[str, ...]
    args_json: str
    signature_input: bytes

    @property
    def repository(self) -> str:
        return repository_of(self.tags)


def trouble(number: int) -> Trouble:
    """What is wrong with the delivery of this number: 1 in 1,000 forged, 2 in 200 in need of a retry."""
    if number % 1000 == 500:
        return Trouble.FORGED
    match number % 200:
        case 7:
            return Trouble.STUMBLES
        case 107:
            return Trouble.BUSY
    return Trouble.NONE


@cache
def deliveries() -> tuple[Delivery, ...]:
    """All deliveries of the data file, in its order."""
    packed = (files("awa.dev") / "data" / DATA_FILE).read_bytes()
    return tuple(_delivery(line) for line in gzip.decompress(packed).splitlines())


def canonical(body: Any) -> bytes:
    """A body in the one spelling that signatures are made over: keys sorted, no white space."""
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def sign(body: bytes, secret: bytes) -> str:
    """The signature of a canonical body, in the form that webhook senders use."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def jobs(secret: bytes, queue_order: range) -> Iterator[NewJob]:
    """The jobs of these delivery numbers; the numbers go round and round through the data file."""
    signed = [_signed(delivery, secret) for delivery in deliveries()]
    forged = [_signed(delivery, _FORGERS_SECRET) for delivery in deliveries()]
    for number in queue_order:
        source = forged if trouble(number) is Trouble.FORGED else signed
        delivery, signature = source[number % len(source)]
        yield NewJob(
            kind=delivery.kind,
            args_json=delivery.args_json,
            tags=delivery.tags,
            metadata={SIGNATURE_KEY: signature, DELIVERY_KEY: number},
        )


def repository_of(tags: Sequence[str]) -> str:
    """The repository that a delivery is about, by its tag."""
    found = (tag for tag in tags if tag.startswith(REPOSITORY_TAG))
    return next(found, NO_REPOSITORY).removeprefix(REPOSITORY_TAG)


def _delivery(line: bytes) -> Delivery:
    document = orjson.loads(line)
    body = document["args"]
    return Delivery(
        document["kind"], tuple(document["tags"]), orjson.dumps(body).decode(), canonical(body)
    )


def _signed(delivery: Delivery, secret: bytes) -> tuple[Delivery, str]:
    return delivery, sign(delivery.signature_input, secret)
