"""Tokens are read strictly, kept as hashes, and never repeated in an error."""

import hashlib
from pathlib import Path

import pytest

from awa.http.tokens import Role, hash_token, parse_tokens, tokens_from_environment
from awa.model.errors import ValidationError

SECRET = "a-secret-of-some-length"
DIGEST = hashlib.sha256(SECRET.encode()).hexdigest()


def test_a_plain_line_names_its_holder() -> None:
    table = parse_tokens(["# who may come in", "", f"deploy:operator:{SECRET}"])
    actor = table.find(SECRET)
    assert actor is not None
    assert (actor.name, actor.role) == ("deploy", Role.OPERATOR)


def test_a_hashed_line_does_as_well() -> None:
    table = parse_tokens([f"deploy:admin:sha256:{DIGEST}"])
    actor = table.find(SECRET)
    assert actor is not None
    assert actor.role is Role.ADMIN


def test_only_the_hash_is_kept() -> None:
    table = parse_tokens([f"deploy:operator:{SECRET}"])
    assert SECRET not in repr(table)
    assert table.tokens[0].digest == hash_token(SECRET)


@pytest.mark.parametrize("presented", ["", SECRET[:-1], SECRET + "x", DIGEST, f"sha256:{DIGEST}"])
def test_what_is_not_the_token_finds_nobody(presented: str) -> None:
    assert parse_tokens([f"deploy:operator:{SECRET}"]).find(presented) is None


def test_one_name_may_have_two_tokens_for_a_rotation() -> None:
    table = parse_tokens([f"deploy:viewer:{SECRET}", f"deploy:viewer:{SECRET}-new"])
    assert table.find(SECRET) == table.find(f"{SECRET}-new")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (SECRET, "form"),
        (f"deploy:{SECRET}", "form"),
        (f"deploy:root:{SECRET}", "viewer, operator, admin"),
        (f":viewer:{SECRET}", "name"),
        (f"de ploy:viewer:{SECRET}", "name"),
        ("deploy:viewer:short", "16"),
        ("deploy:viewer:a secret with a space", "spaces"),
        ("deploy:viewer:a-secret-wíth-an-accent", "ASCII"),
        ("deploy:viewer:sha256:abc", "64 hex"),
    ],
)
def test_a_wrong_line_is_named_by_number_and_not_repeated(line: str, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint) as caught:
        parse_tokens(["# first", line], source="tokens.txt")
    told = str(caught.value) + repr(caught.value.fields)
    assert "tokens.txt, line 2" in told
    assert line.rpartition(":")[2] not in told


def test_a_name_has_one_role() -> None:
    with pytest.raises(ValidationError, match="two roles"):
        parse_tokens([f"deploy:viewer:{SECRET}", f"deploy:admin:{SECRET}-new"])


def test_a_token_has_one_holder() -> None:
    with pytest.raises(ValidationError, match="share one token"):
        parse_tokens([f"deploy:viewer:{SECRET}", f"grafana:viewer:sha256:{DIGEST}"])


def test_the_environment_and_a_file_add_up(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"grafana:viewer:{SECRET}-file\n")
    table = tokens_from_environment(
        {
            "AWA_API_TOKENS_FILE": str(file),
            "AWA_API_TOKENS": f"deploy:operator:{SECRET},root:admin:{SECRET}-root",
        }
    )
    assert [token.actor.name for token in table.tokens] == ["grafana", "deploy", "root"]


def test_no_tokens_at_all_is_an_empty_table() -> None:
    assert not tokens_from_environment({})


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_an_unreadable_file_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "tokens"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValidationError, match="AWA_API_TOKENS_FILE"):
        tokens_from_environment({"AWA_API_TOKENS_FILE": str(file)})
