"""The pages, one module a thing; ROUTERS is what the console consists of."""

from typing import Final

from fastapi import APIRouter

from awa.web.routes import session

ROUTERS: Final[tuple[APIRouter, ...]] = (session.router,)
