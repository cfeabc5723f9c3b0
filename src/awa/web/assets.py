"""Style sheets, modules, pictures and the font: read once, served under the hash of what they hold.

All of them share one hash, which is a folder in the URL. So a module finds its neighbour by a relative
path, and a browser keeps everything for a year and still sees each new version at once.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from awa.http.access import Right, needs

FOLDER: Final = Path(__file__).with_name("static")
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
_PACKED: Final = frozenset({".css", ".js", ".svg"})
_FOR_A_YEAR: Final = "public, max-age=31536000, immutable"
_ASK_EACH_TIME: Final = "no-cache"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent; `packed` is its gzip form, None where that saves nothing."""

    body: bytes
    packed: bytes | None
    media_type: str


@dataclass(frozen=True, slots=True)
class Assets:
    """All files by their path, and the hash of them all."""

    digest: str
    files: dict[str, Asset]


@cache
def assets() -> Assets:
    """Read the files once."""
    digest = hashlib.sha256()
    files: dict[str, Asset] = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix not in MEDIA_TYPES:
            continue
        name, body = path.relative_to(FOLDER).as_posix(), path.read_bytes()
        digest.update(name.encode() + b"\0" + body)
        packed = gzip.compress(body, mtime=0) if path.suffix in _PACKED else None
        files[name] = Asset(body, packed, MEDIA_TYPES[path.suffix])
    return Assets(digest.hexdigest()[:12], files)


@router.get("/static/{digest}/{name:path}")
@router.head("/static/{digest}/{name:path}")
@needs(Right.OPEN)
async def static_file(request: Request, digest: str, name: str) -> Response:
    """A file; under an older hash, as a page that was opened before an upgrade asks for it, it is not kept."""
    every = assets()
    asset = every.files.get(name)
    if asset is None:
        raise HTTPException(404)
    headers = {
        "cache-control": _FOR_A_YEAR if digest == every.digest else _ASK_EACH_TIME,
        "vary": "accept-encoding",
    }
    body = asset.body
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        body = asset.packed
        headers["content-encoding"] = "gzip"
    return Response(body, headers=headers, media_type=asset.media_type)
