"""Links that work wherever the console is mounted: each begins with the path below which it is served.

Names of queues and kinds are whatever somebody typed, so they are percent-encoded in full. A name that a
browser or a proxy would change on its way through a path (slashes, dots alone) travels in the query instead.
"""

import re
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request

from awa.http.paths import root_path
from awa.model import search

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.~@+-]*")


def url_for(request: Request, path: str, *parts: object, **query: object) -> str:
    """The link to `path` (it begins with "/"), each `{}` filled with a part; None and "" in the query are left out.

    A trailing underscore of a query name falls away, so that `from_=…` becomes `from`.
    """
    filled = path.format(*(quote(str(part), safe="") for part in parts))
    pairs = [(name.rstrip("_"), str(value)) for name, value in query.items() if _is_given(value)]
    root = quote(root_path(request), safe="/")
    return root + filled + (f"?{urlencode(pairs)}" if pairs else "")


def queue_url(request: Request, queue: str, **query: object) -> str:
    """The page of a queue."""
    if _PLAIN_NAME.fullmatch(queue):
        return url_for(request, "/queues/{}", queue, **query)
    return url_for(request, "/queue", name=queue, **query)


def job_url(request: Request, job_id: int, **query: object) -> str:
    """The page of a job."""
    return url_for(request, "/jobs/{}", job_id, **query)


def jobs_url(request: Request, text: str = "", **words: object) -> str:
    """The list of jobs for a search text, or for words such as `queue="email", state="failed"`."""
    return url_for(request, "/jobs", q=text or _text(words))


def operation_url(request: Request, operation_id: object, **query: object) -> str:
    """The page of an operation."""
    return url_for(request, "/operations/{}", operation_id, **query)


def new_operation_url(
    request: Request, text: str = "", *, op_kind: str | None = None, **words: object
) -> str:
    """The page on which an operation on these jobs is made."""
    return url_for(request, "/operations/new", q=text or _text(words), op_kind=op_kind)


def is_plain_name(name: str) -> bool:
    """Whether a name comes through any path unchanged."""
    return bool(_PLAIN_NAME.fullmatch(name))


def _text(words: dict[str, object]) -> str:
    return " ".join(search.word(name, value) for name, value in words.items() if _is_given(value))


def _is_given(value: object) -> bool:
    return value is not None and value != ""
