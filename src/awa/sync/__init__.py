"""The blocking client: the same methods as `AsyncClient`, made from it and never kept in step by hand.

`portal` runs an event loop in a thread of its own. `client` is written by `generate` from the source of
`awa.client`, so it has every signature and docstring of it; a test fails when the two differ.
"""

from awa.sync.client import Client, Transaction

__all__ = ["Client", "Transaction"]
