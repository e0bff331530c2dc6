"""Compresses ascending ids into runs of consecutive ones."""

from collections.abc import Sequence


def runs_of(ids: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of each run of consecutive ids, which are in ascending order."""
    if not ids:
        return []
    if ids[-1] - ids[0] == len(ids) - 1:
        return [(ids[0], ids[-1])]
    ends = [place for place in range(1, len(ids)) if ids[place] != ids[place - 1] + 1]
    return [(ids[first], ids[end - 1]) for first, end in zip([0, *ends], [*ends, len(ids)], strict=True)]
