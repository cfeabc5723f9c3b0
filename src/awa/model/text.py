"""Text from a program as the database can keep it."""


def bounded(text: str, limit: int) -> str:
    """The text without what jsonb refuses (NUL, lone surrogates); of a long one the beginning and the end.

    In a traceback the end tells more.
    """
    clean = text.replace("\x00", "�").encode(errors="replace").decode()
    if len(clean) <= limit:
        return clean
    half = limit // 2
    return f"{clean[:half]}\n… {len(clean) - 2 * half} characters left out …\n{clean[-half:]}"
