"""`awa storage`: said in words, and converted only when somebody means it."""

from tests.cli.conftest import Awa


def test_the_storage_is_told(awa: Awa) -> None:
    assert "lanes: append-only lanes" in awa("storage", "status").out
    told = awa("--json", "storage", "status").document
    assert (told["storage"], told["rows_about"]) == ("lanes", 0)
    refused = awa("storage", "convert", "--yes")
    assert refused.code == 4
    assert "has lanes already" in refused.err


def test_canonical_is_converted_when_that_is_confirmed(bare: Awa, empty_database_url: str) -> None:
    there = ("--database-url", empty_database_url)
    assert "applied 0001_jobs" in bare(*there, "migrate", "--storage", "canonical").out
    other = bare(*there, "migrate", "--storage", "lanes")
    assert other.code == 2
    assert "has the storage canonical, not lanes" in other.err
    assert "awa storage convert" in other.err
    bare(*there, "enqueue", "--kind", "send", "--repeat", "25")
    status = bare(*there, "storage", "status").out
    assert "canonical: one ordinary table" in status
    assert "about 0 rows" not in status
    assert bare(*there, "storage", "convert").code == 4
    done = bare(*there, "storage", "convert", "--yes")
    assert done.code == 0
    assert "Converted: 25 jobs before and after (25 available)." in done.out
    assert bare(*there, "--json", "storage", "status").document["storage"] == "lanes"
    assert "up to date" in bare(*there, "migrate").out
