"""Signed URLs of callbacks: whoever holds one may do what it says, and is nobody else.

A signature is asked before anything of the body is read. A wrong one says nothing of what would have been right, and
neither the log nor an error repeats it.
"""

import time
from typing import Final

from fastapi import Request

from awa.http.tokens import Actor, Role
from awa.model.callback import Signer, check_action, check_callback_id
from awa.model.errors import Forbidden, ValidationError

HEADER: Final = "x-awa-signature"
SIGNED_ACTOR: Final = "signed"
PRESENTED_MAX_CHARS: Final = 200


def is_signed(request: Request) -> bool:
    """Whether the request shows a signature, good or not."""
    return HEADER in request.headers or "signature" in request.query_params


def signed_actor(request: Request, signer: Signer | None) -> Actor:
    """Whoever holds the signature, if it is good for this request; raises Forbidden if not."""
    if signer is None:
        raise Forbidden(
            "this server knows no secret that URLs are signed with",
            hint="set AWA_CALLBACK_SECRET where it runs, to that of the program that signs",
            details={"reason": "signature"},
        )
    until, presented = _presented(request)
    if not _is_good(request, signer, until, presented):
        raise Forbidden(
            "the signature is not good for this: it was made for another action or callback, or it has expired",
            hint="a signed URL is used as it is, with POST; each action has its own",
            details={"reason": "signature"},
        )
    return Actor(SIGNED_ACTOR, Role.OPERATOR)


def unsigned() -> Forbidden:
    """What somebody is told who answers without a signature where nobody is believed without."""
    return Forbidden(
        "an answer to a callback needs a signature or a token here, and came with neither",
        hint="use the signed URL as it was given, with expires and signature, or send an operator's token",
        details={"reason": "signature"},
    )


def _presented(request: Request) -> tuple[str, str]:
    header = request.headers.get(HEADER)
    if header is not None:
        until, _, presented = header.partition(".")
        return until, presented
    query = request.query_params
    return query.get("expires", ""), query.get("signature", "")


def _is_good(request: Request, signer: Signer, until: str, presented: str) -> bool:
    if (
        not (until.isascii() and until.isdecimal() and len(until) <= 12)
        or len(presented) > PRESENTED_MAX_CHARS
    ):
        return False
    try:
        callback_id = check_callback_id(request.path_params["callback_id"])
        action = check_action(request.path_params["action"])
    except ValidationError:
        return False
    return signer.accepts(callback_id, action, int(until), presented, time.time())
