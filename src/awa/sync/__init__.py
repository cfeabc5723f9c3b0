"""The blocking client: the same methods as `AsyncClient`, made from it and never kept in step by hand.

`portal` runs an event loop in a thread of its own. Everything else but this file is written by `generate` from the source
of `awa.client`, a file for each of its files, with every signature and docstring of it; a test fails when they differ.
"""

from awa.sync.client import Client
from awa.sync.transaction import Transaction

__all__ = ["Client", "Transaction"]
