"""The HTTP API: `create_app` makes the ASGI application, `awa.api.serve` runs it.

access.py decides who may do what, guarded.py what a request may hold, problems.py what an error looks like;
routes/ has one router a resource and decides nothing.
"""

from awa.api.app import create_app

__all__ = ["create_app"]
