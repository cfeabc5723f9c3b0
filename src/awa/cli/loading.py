"""Finding the client that MODULE:CLIENT names: a user's module, imported as Python would in that folder."""

import importlib
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from awa.cli.values import wrong
from awa.client import AsyncClient
from awa.model.errors import AwaError, ValidationError

_ARGUMENT = "client"
_EXAMPLE = "Write it like myapp.jobs:client."


class ImportFailed(AwaError):
    """The user's module raised while it was imported."""

    code = "import_failed"


def load_client(spec: str) -> AsyncClient:
    """The AsyncClient under this name. Raises ValidationError if there is none."""
    module_name, colon, name = spec.partition(":")
    if not (module_name and colon and name):
        raise wrong(_ARGUMENT, f"{spec!r} does not name a client", _EXAMPLE)
    module = _import(module_name)
    found = getattr(module, name, None)
    if isinstance(found, AsyncClient):
        return found
    clients = sorted(key for key, value in vars(module).items() if isinstance(value, AsyncClient))
    raise _no_client(module_name, name, found, clients)


def _import(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            message = f"there is no module {error.name!r} here ({here})"
            raise wrong(_ARGUMENT, message, _EXAMPLE) from None
        raise _broken(name, error) from error
    except Exception as error:
        raise _broken(name, error) from error


def _broken(name: str, error: Exception) -> AwaError:
    if isinstance(error, AwaError):
        return error
    return ImportFailed(
        f"importing {name} failed: {type(error).__name__}: {error}",
        hint="--debug shows where.",
    )


def _no_client(module: str, name: str, found: object, clients: list[str]) -> ValidationError:
    if found is None:
        message = f"the module {module} has no {name!r}"
    else:
        message = f"{module}:{name} is a {type(found).__name__}, not an awa.AsyncClient"
    close = get_close_matches(name, clients, n=1) or clients[:1]
    hint = (
        f"Did you mean {module}:{close[0]}?"
        if close
        else f"The module {module} holds no awa.AsyncClient."
    )
    return wrong(_ARGUMENT, message, hint)
