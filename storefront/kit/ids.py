"""Ids as they stand in a path (decisions: Ids)."""

LARGEST_ID = 2**53 - 1


def as_id(text: str) -> int | None:
    """The id that a path segment of digits names; None for anything that cannot be one."""
    if not (text.isascii() and text.isdigit()) or len(text) > 16:
        return None
    number = int(text)
    return number if 0 < number <= LARGEST_ID else None
