from datetime import datetime

from storefront.carts import actions

BATCH = 500


def sweep_expired_carts(*, now: datetime) -> int:
    """Delete every cart whose seven days have passed, some hundred at a time so that nobody waits long; how many."""
    deleted = 0
    while batch := actions.delete_expired_carts(now=now, limit=BATCH):
        deleted += batch
    return deleted
