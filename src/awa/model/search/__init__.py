"""The search language: a filter as an operator types it, `queue:email kind:send_* age:>1h`.

One line of words, divided by blanks, and all of them must hold. It says exactly what `JobFilter` can say,
so what was searched for, what is listed and what an operation will change are one set. Read it with
`parse`, write it with `write`; whatever a filter holds survives the way there and back.

A word is a name, a colon and a value: `queue:email`. Values with blanks, commas or quotation marks stand in
quotation marks, as in JSON. `queue:a,b` means either, `tag:a tag:b` both, `tag:a,b` one of them, `-tag:a`
none. `created`, `run`, `ended` and `attempt` are compared: `created:>=2026-01-01T00:00Z`, `attempt:<3`.

`age:>1h` depends on when it is read. It becomes an instant at that moment, and `Search.frozen` is the same
search with that instant in place of the age: an operation keeps the latter, or its set would drift.
"""

from awa.model.search.meaning import SEARCH_MAX_CHARS, Chip, Search, parse
from awa.model.search.telling import phrases, sentence
from awa.model.search.words import WORDS, Word, word
from awa.model.search.writing import normal, write

__all__ = [
    "SEARCH_MAX_CHARS",
    "WORDS",
    "Chip",
    "Search",
    "Word",
    "normal",
    "parse",
    "phrases",
    "sentence",
    "word",
    "write",
]
