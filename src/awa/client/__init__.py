"""The client: what a program says to Awa. `AsyncClient` here, its blocking twin in `awa.sync`.

`base` holds the pool and the tasks; `inserting`, `admin`, `batch` and `running` are its chapters, one
class each, put together in `client`.
"""

from awa.client.client import AsyncClient
from awa.client.transaction import Transaction

__all__ = ["AsyncClient", "Transaction"]
