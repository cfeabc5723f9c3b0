"""Every setting and every variable is in docs/reference/settings.md, as it is in the sources."""

import dataclasses
import re

from awa.config import Settings
from tests.docs.pages import spans, text_of
from tests.house.walk import ROOT, SOURCE

PAGE = "docs/reference/settings.md"


def test_every_setting_is_told_with_its_default_and_its_limits() -> None:
    page = text_of(PAGE)
    wrong = []
    for field in dataclasses.fields(Settings):
        variable, meta = field.metadata["env"][0], field.metadata
        row = rf"\| `{variable}` \| (.*?) \| (.*?) \|"
        told = re.search(row, page)
        wanted = ("none", meta.get("takes", "a URL"))
        if "least" in meta:
            limits = f"{meta['least']:g} to {meta['greatest']:g}"
            wanted = (f"{field.default:g}", limits)
        if told is None or told.groups() != wanted:
            wrong.append((variable, told and told.groups(), wanted))
    assert wrong == []


def test_every_variable_that_the_sources_name_is_told() -> None:
    sources = [
        path.read_text() for path in (*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"))
    ]
    sources.append((ROOT / "Makefile").read_text())
    named = set(re.findall(r"\bAWA_[A-Z][A-Z_]*[A-Z]\b", "\n".join(sources)))
    # The demo talks to its own processes by variables of its own.
    named = {name for name in named if not name.startswith("AWA_DEMO_")}
    assert named - spans(PAGE) == set()
