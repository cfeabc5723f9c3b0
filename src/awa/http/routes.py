"""All routes of an application, flat. Newer FastAPI keeps included routers whole, older copies their routes."""

from collections.abc import Iterable, Iterator

from fastapi import FastAPI
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope


def all_routes(app: FastAPI) -> list[Route]:
    """Every route with an endpoint. Routers are included here as they are, so a route's own path is its path."""
    return list(_flat(app.routes))


def methods_at(app: FastAPI, scope: Scope) -> list[str]:
    """The methods that are possible at a request's path, whatever its own is."""
    found: set[str] = set()
    for route in all_routes(app):
        if route.matches(scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return sorted(found)


def _flat(routes: Iterable[BaseRoute]) -> Iterator[Route]:
    for route in routes:
        if isinstance(route, Route):
            yield route
        else:
            included = getattr(route, "original_router", None)
            yield from _flat(included.routes if included is not None else ())
