"""Answers that a browser need not fetch twice: an entity tag, and 304 while nothing has changed."""

import hashlib
from typing import Any

from fastapi import Request, Response

from awa.http.json import to_json

# Kept by the browser alone, and asked about every time.
CACHE_CONTROL = "private, no-cache"


def with_etag(request: Request, payload: Any, *, status: int = 200) -> Response:
    """`payload` as JSON with an entity tag, or 304 if the caller has it already."""
    body = to_json(payload)
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": CACHE_CONTROL,
        "Vary": "Authorization, Cookie",
    }
    if status == 200 and _has(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, status, headers=headers, media_type="application/json")


def _has(request: Request, tag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return given.strip() == "*" or tag in (one.strip() for one in given.split(","))
