"""The rooms of the house are placed, and imports go downwards only."""

import subprocess
import sys
import tomllib
from pathlib import Path

from tests.house.walk import ROOT, SOURCE


def placed_rooms() -> set[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return {room.strip(" ()") for layer in contract["layers"] for room in layer.split("|")}


def rooms_on_disk() -> set[str]:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    folders = {path.parent.name for path in SOURCE.glob("*/*.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    return packages | folders | modules


def test_every_room_is_placed_in_the_contract() -> None:
    assert rooms_on_disk() - placed_rooms() == set()


def test_every_room_is_a_package() -> None:
    """Without `__init__.py` a folder can be imported, but the contract would not see it."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_the_contract_holds() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
