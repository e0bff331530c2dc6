"""Ids in paths (R-CALL-8)."""

MAX_ID = 2**53 - 1


def as_id(text: str) -> int | None:
    """The id in a path segment; None for text that cannot be an id."""
    if not (text.isascii() and text.isdigit()) or text.startswith("0") or len(text) > 16:
        return None
    number = int(text)
    return number if number <= MAX_ID else None
