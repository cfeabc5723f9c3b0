"""Awa on the canonical storage: the same program on another schema."""

import awa_runner
import words

awa_runner.storage = "canonical"
awa_runner.unfinished = "awa_canonical_unfinished"

if __name__ == "__main__":
    words.run(awa_runner.COMMANDS)
