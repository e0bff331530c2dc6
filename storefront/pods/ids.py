"""Numbers of pods in ids. The ids of pod n are those above n * 2^40, below the next pod's: an id is unique in all pods,
stays when its shop moves, and is exact in JavaScript (below 2^53)."""

MAX_POD = 8190
IDS_PER_POD = 1 << 40


def first_id(pod: int) -> int:
    return pod * IDS_PER_POD + 1


def last_id(pod: int) -> int:
    return (pod + 1) * IDS_PER_POD - 1


def birth_pod(row_id: int) -> int:
    """The pod in which the row with this id was made."""
    return row_id // IDS_PER_POD
