"""The code in the documentation runs, in the order in which it stands, and prints what the page says."""

from pathlib import Path

import pytest

from tests.docs.pages import blocks, name_of, pages
from tests.docs.sandbox import Sandbox

RUNNING = {"python", "sh", "sql"}
WITH_CODE = [page for page in pages() if RUNNING & {block.language for block in blocks(page)}]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
async def test_the_page_does_what_it_says(page: Path, sandbox: Sandbox) -> None:
    for block in blocks(page):
        await sandbox.run(block)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_block_names_its_language(page: Path) -> None:
    assert [str(block) for block in blocks(page) if not block.language] == []
