"""The commands that CONTRIBUTING names exist and say what they do."""

import os
import re

from tests.house.walk import ROOT

PROMISED = {
    "setup", "demo", "dev", "test", "unit", "lint", "types", "docs", "bench", "soak", "ci",
}  # fmt: skip


def test_every_target_of_the_makefile_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^\.PHONY: (\S+)$", makefile, re.M))
    explained = set(re.findall(r"^([a-z0-9-]+):.*## \S", makefile, re.M))
    assert targets == explained
    assert targets >= PROMISED


def test_ci_runs_what_a_developer_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().rstrip().endswith("make ci")
    assert re.search(r"^ci: test\b", (ROOT / "Makefile").read_text(), re.M)
