"""From words to a filter: each word gives one or two of its fields, and none is given twice."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from awa.model.errors import FieldProblem, ValidationError
from awa.model.filter import JobFilter
from awa.model.search import telling
from awa.model.search.reading import Problem, Said, Value, words_of
from awa.model.search.words import NO_IDS, Word, duration, instant
from awa.model.states import JobState

SEARCH_MAX_CHARS: Final = 32_000
_TICK: Final = timedelta(microseconds=1)
_FIELDS: Final = {
    "created": "created_at",
    "run": "run_at",
    "ended": "finalized_at",
    "age": "created_at",
}
_WHOLE: Final = re.compile(r"-?\d{1,19}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Chip:
    """One word of a search: where it stands, and what it says in plain words."""

    start: int
    end: int
    text: str
    name: str
    sentence: str
    frozen: str
    """The word with an instant in place of an age; else the same as `text`."""


@dataclass(frozen=True, slots=True)
class Search:
    """A line that was understood."""

    text: str
    filter: JobFilter
    chips: tuple[Chip, ...]

    @property
    def relative(self) -> bool:
        """Whether it means another set of jobs tomorrow, since an age is in it."""
        return any(chip.frozen != chip.text for chip in self.chips)

    @property
    def frozen(self) -> str:
        """The same search with instants in place of ages."""
        return " ".join(chip.frozen for chip in self.chips)

    def without(self, index: int) -> str:
        """The line without its chip number `index`."""
        return " ".join(chip.text for at, chip in enumerate(self.chips) if at != index)

    def having(self, name: str, said: str | None) -> str:
        """The line with `said` in place of all its words of that name; None takes them away."""
        kept = [chip.text for chip in self.chips if chip.name != name]
        return " ".join([*kept, said] if said else kept)


def parse(text: str, *, now: datetime) -> Search:
    """Understand a line; `now` is what ages count back from.

    Raises `ValidationError` that names each word that is wrong. Its `details["problems"]` hold where the word
    stands (`start`, `end`) and, if there is a nearest right one, a `suggestion`: the line with that instead.
    """
    if len(text) > SEARCH_MAX_CHARS:
        seen = f"the search is {len(text)} characters long, at most {SEARCH_MAX_CHARS} are read"
        raise _refused(text, [Problem(0, len(text), "", seen)])
    meaning = _Meaning(now.astimezone(UTC))
    for found in words_of(text):
        if isinstance(found, Problem):
            meaning.problems.append(found)
        else:
            meaning.take(found)
    given = meaning.filter()
    if given is None:
        raise _refused(text, meaning.problems)
    return Search(text, given, tuple(meaning.chip(said, given) for said in meaning.taken))


class _Wrong(Exception):
    """What one word says cannot be meant."""

    def __init__(self, message: str, instead: str | None = None) -> None:
        super().__init__(message)
        self.message, self.instead = message, instead


@dataclass
class _Meaning:
    """The filter as it grows word by word, and which word gave which field."""

    now: datetime
    fields: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, Said] = field(default_factory=dict)
    taken: list[Said] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def take(self, said: Said) -> None:
        try:
            given = _fields_of(said, self.now)
            for name, value in given.items():
                self._put(name, value, said)
            self.taken.append(said)
        except _Wrong as wrong:
            self._complain(said, wrong.message, wrong.instead)

    def _put(self, name: str, value: Any, said: Said) -> None:
        if name == "tag" and ("tag" in self.fields or "tags_all" in self.fields):
            before = self.fields.pop("tag", None)
            tags = [before] if before is not None else self.fields["tags_all"]
            self.fields["tags_all"] = list(dict.fromkeys([*tags, value]))
            self.origin["tags_all"] = said
        elif name == "tags_none" and name in self.fields:
            self.fields[name] = list(dict.fromkeys([*self.fields[name], *value]))
        elif name in self.fields:
            raise _Wrong(_twice(said, self.origin[name]))
        else:
            self.fields[name] = value
            self.origin[name] = said

    def filter(self) -> JobFilter | None:
        """The filter, or None after the filter's own complaints were put down to the words."""
        if self.problems:
            return None
        tags = self.fields.get("tags_all", ())
        if len(tags) == 1:
            self.fields["tag"] = self.fields.pop("tags_all")[0]
            self.origin["tag"] = self.origin["tags_all"]
        try:
            return JobFilter.parse(self.fields)
        except ValidationError as refused:
            for problem in refused.fields:
                said = self.origin[re.split(r"[.\[]", problem.field)[0]]
                self._complain(said, f"{said.word.name}: {_in_words(problem.message)}")
            return None

    def chip(self, said: Said, given: JobFilter) -> Chip:
        """The word, and what the fields that it gave say."""
        frozen, fields = said.text, _fields_of(said, self.now)
        if said.word.takes == "age":
            name, value = next(iter(fields.items()))
            frozen = f"created:{'<' if name.endswith('_lt') else '>='}{instant(value)}"
        told = ", ".join(telling.phrases(JobFilter.model_construct(**fields)))
        if said.word.takes == "age":
            told = f"{_age_words(said)} ({told})"
        return Chip(said.start, said.end, said.text, said.word.name, told, frozen)

    def _complain(self, said: Said, message: str, instead: str | None = None) -> None:
        self.problems.append(Problem(said.start, said.end, said.text, message, instead))


def _fields_of(said: Said, now: datetime) -> dict[str, Any]:
    """The filter's fields that one word gives."""
    match said.word.takes:
        case "names":
            return _names(said)
        case "ids":
            return {"ids": _ids(said)}
        case "state":
            return {"state": _state(said)}
        case "priority":
            return {"priority": _whole(said, _only(said))}
        case "count":
            return _count(said)
        case "moment":
            return _moment(said)
        case "age":
            return _age(said, now)
        case "text":
            return {"error_contains": _only(said)}
        case "json":
            return {"args_contains": said.json}


def _names(said: Said) -> dict[str, Any]:
    name = said.word.name
    literal = f'for the character itself write {name}:"…*…"'
    if any("*" in value.text and not value.quoted for value in said.values):
        raise _Wrong(f"{name}: a star can only stand at the end of a kind (kind:send_*); {literal}")
    if any(value.starred for value in said.values):
        if name != "kind":
            raise _Wrong(f"{name}: the star is for kinds only; {literal}")
        return {"kind_prefix": _prefix(said)}
    listed = [value.text for value in said.values]
    if len(listed) > 1:
        listed = [value.text for value in said.values if value.text or value.quoted]
        return {"-tag": {"tags_none": listed}, "tag": {"tags_any": listed}}.get(
            name, {f"{name}s": listed}
        )
    return {"tags_none": listed} if name == "-tag" else {name: listed[0]}


def _prefix(said: Said) -> str:
    if len(said.values) > 1:
        raise _Wrong("kind: a beginning with a star stands alone, not in a list")
    if not said.values[0].text:
        raise _Wrong("kind:* is every kind; leave the word out")
    return said.values[0].text


def _ids(said: Said) -> list[int]:
    if said.values == (Value(NO_IDS),):
        return []
    return [_whole(said, value.text) for value in said.values if value.text]


def _state(said: Said) -> str:
    value = _only(said)
    if value in list(JobState):
        return value
    if "," in value:
        raise _Wrong("state: only one state at a time can be asked for")
    nearest = telling.nearest(value, JobState)
    known = f"known are {', '.join(JobState)}"
    if nearest is None:
        raise _Wrong(f"state: there is no state {value!r}; {known}")
    raise _Wrong(
        f"state: there is no state {value!r}, did you mean {nearest!r}? ({known})",
        f"state:{nearest}",
    )


def _count(said: Said) -> dict[str, Any]:
    number = _whole(said, _only(said))
    match said.operator:
        case ">=":
            return {"attempt_gte": number}
        case ">":
            return {"attempt_gte": number + 1}
        case "<":
            return {"attempt_lt": number}
        case "<=":
            return {"attempt_lt": number + 1}
        case _:
            return {"attempt_gte": number, "attempt_lt": number + 1}


def _moment(said: Said) -> dict[str, Any]:
    value, name = _only(said), _FIELDS[said.word.name]
    _needs_operator(said, value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise _Wrong(
            f"{said.word.name}: {value!r} is no date and time; write {said.word.example}"
        ) from None
    if moment.utcoffset() is None:
        day = value if "T" in value else f"{value}T00:00"
        raise _Wrong(
            f"{said.word.name}: {value!r} does not say which time zone; add Z or +02:00",
            f"{said.word.name}:{said.operator}{day}Z",
        )
    return _bound(name, said.operator, moment)


def _age(said: Said, now: datetime) -> dict[str, Any]:
    value = _only(said)
    _needs_operator(said, value)
    age = duration(value)
    if age is None:
        raise _Wrong(f"age: {value!r} is no duration; write 90s, 5m, 1h30m, 2d or 1w")
    mirrored = {">": "<", ">=": "<=", "<": ">", "<=": ">="}[said.operator]
    return _bound("created_at", mirrored, now - age)


def _bound(name: str, operator: str, moment: datetime) -> dict[str, Any]:
    """The filter knows `from` and `before`; PostgreSQL's instants are microseconds, so the rest is exact too."""
    try:
        match operator:
            case ">=":
                return {f"{name}_gte": moment}
            case ">":
                return {f"{name}_gte": moment + _TICK}
            case "<":
                return {f"{name}_lt": moment}
            case _:
                return {f"{name}_lt": moment + _TICK}
    except OverflowError:
        raise _Wrong(f"{moment.isoformat()} is too far away") from None


def _needs_operator(said: Said, value: str) -> None:
    if not said.operator:
        word = said.word.name
        raise _Wrong(f"{word}: say on which side, {word}:>{value} or {word}:<{value}")


def _only(said: Said) -> str:
    return said.values[0].text


def _whole(said: Said, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _Wrong(f"{said.word.name}: expected a whole number, got {text!r}")
    return int(text)


def _age_words(said: Said) -> str:
    older = said.operator.startswith(">")
    return f"{'older' if older else 'younger'} than {_only(said)}"


def _twice(said: Said, before: Said) -> str:
    word: Word = said.word
    message = f"{said.text} asks the same as {before.text} a second time"
    if word.takes == "names" and word.name not in {"tag", "-tag"}:
        either = ",".join([before.text, said.text.partition(":")[2]])
        return f"{message}, and both would have to hold; for either of them write {either}"
    return f"{message}; keep one of them"


def _in_words(message: str) -> str:
    """The filter speaks of its fields; here the words are typed."""
    for name, field_name in (
        ("created", "created_at"),
        ("run", "run_at"),
        ("ended", "finalized_at"),
    ):
        message = message.replace(f"{field_name}_gte", f"{name}:>=…")
        message = message.replace(f"{field_name}_lt", f"{name}:<…")
    return message.replace("attempt_gte", "attempt:>=…").replace("attempt_lt", "attempt:<…")


def _refused(text: str, problems: list[Problem]) -> ValidationError:
    listed = [
        {
            "start": problem.start,
            "end": problem.end,
            "word": problem.word,
            "message": problem.message,
            "suggestion": None
            if problem.instead is None
            else text[: problem.start] + problem.instead + text[problem.end :],
        }
        for problem in problems
    ]
    return ValidationError(
        "; ".join(problem.message for problem in problems),
        fields=[FieldProblem("q", problem.message) for problem in problems],
        details={"problems": listed},
    )
