"""The web console: pages for operators, rendered here and enhanced by small modules.

`install` adds the pages to an application that has `state.served` (see awa.http.context). Pages call the
same functions as the API.
"""

from fastapi import FastAPI

__all__ = ["install"]


def install(app: FastAPI) -> None:
    """Add the console's pages to the app."""
