"""Logs of the programs that run for long: lines on stderr, so that stdout stays the program's answer."""

import logging
import os
import sys
from typing import Final

LEVEL_VARIABLE: Final = "AWA_LOG_LEVEL"
_FORMAT: Final = "%(asctime)s %(levelname)-7s %(name)s  %(message)s"


def log_to_stderr(*, debug: bool = False) -> None:
    """Log at AWA_LOG_LEVEL, by default what is worth knowing in production."""
    named = os.environ.get(LEVEL_VARIABLE, "DEBUG" if debug else "INFO").upper()
    level = logging.getLevelNamesMapping().get(named, logging.INFO)
    logging.basicConfig(stream=sys.stderr, format=_FORMAT, level=logging.WARNING)
    logging.getLogger("awa").setLevel(level)
