"""Reading a body without being drowned in it."""

from fastapi import Request
from starlette.exceptions import HTTPException


async def read_bounded(request: Request, max_bytes: int) -> bytes:
    """The whole body; HTTPException 413 once it is declared or found to be longer than `max_bytes`."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > max_bytes:
        raise _too_large(max_bytes)
    received = bytearray()
    async for part in request.stream():
        received += part
        if len(received) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(received)


def media_type(request: Request) -> str:
    """What the body says it is, without parameters, in lower case."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _too_large(max_bytes: int) -> HTTPException:
    return HTTPException(413, f"the body is longer than {max_bytes} bytes")
