"""What a task says of the concurrency of its jobs: of which key each is, and how many of a key may run at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, TypeAlias

from awa.model.errors import invalid_field
from awa.model.limits import check_concurrency_key, check_concurrency_limit

# "tenant-{tenant}", filled in from a job's arguments, or a function of them; None: that job has no key.
KeyOf: TypeAlias = "str | Callable[[Any], str | None]"


@dataclass(frozen=True, slots=True)
class Concurrency:
    """A task's rule. `limit` is how many jobs of one key run at once."""

    key: KeyOf
    limit: int = 1

    def key_of(self, args: object) -> str | None:
        """The key of a job with these arguments. Raises ValidationError."""
        if not isinstance(self.key, str):
            found = self.key(args)
            return None if found is None else check_concurrency_key(found)
        try:
            found = self.key.format_map(_Fields(args))
        except (KeyError, AttributeError) as problem:
            raise invalid_field(
                "concurrency_key", f"the arguments have no field {problem} for {self.key!r}"
            ) from problem
        return check_concurrency_key(found)


def concurrency(key: KeyOf | None, limit: int | None) -> Concurrency | None:
    """Check what a task says. Raises ValidationError."""
    if key is None:
        if limit is not None:
            raise invalid_field("concurrency_limit", "goes with a concurrency_key")
        return None
    if isinstance(key, str):
        _check_template(key)
    elif not callable(key):
        raise invalid_field(
            "concurrency_key", f'expected "tenant-{{tenant}}" or a function, got {key!r}'
        )
    return Concurrency(key, 1 if limit is None else check_concurrency_limit(limit))


def _check_template(template: str) -> None:
    try:
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as problem:
        raise invalid_field("concurrency_key", f"{template!r} is no template: {problem}") from None
    if any(not name.isidentifier() for name in names):
        raise invalid_field(
            "concurrency_key",
            f"{template!r} may only name fields of the arguments, like {{tenant}}",
        )


class _Fields(Mapping[str, Any]):
    """The fields of arguments, whatever they are."""

    def __init__(self, args: object) -> None:
        self._args = args

    def __getitem__(self, name: str) -> Any:
        if isinstance(self._args, Mapping):
            return self._args[name]
        return getattr(self._args, name)

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0
