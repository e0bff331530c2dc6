"""Lets the worker go on with a shop whose move to another pod was killed just before it stopped the shop."""

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from storefront.pods.models import ShopMove

log = structlog.get_logger(__name__)

# State of a task that waits for the move of its shop.
HELD = "MOVING"
# Longer than a move lets tasks wait before it has switched the shop or lets them go on (`server/moving/moving.py`).
MAX_HELD = timedelta(seconds=60)


def release_held_tasks(*, now: datetime, limit: int) -> int:
    """Let tasks and webhooks go on that a move has held for longer than MAX_HELD. Returns for how many shops."""
    draining = ShopMove.objects.filter(step=ShopMove.Step.DRAINING, step_at__lt=now - MAX_HELD)
    released = 0
    for move in draining.order_by("step_at")[:limit]:
        with transaction.atomic():
            # A move that goes on at this moment sees by this step that its tasks were not held.
            mine = draining.filter(pk=move.pk).update(step=ShopMove.Step.COPYING, step_at=now)
            if mine:
                held = DBTaskResult.objects.filter(status=HELD, args_kwargs__args__0=move.pk)
                held.update(status=TaskResultStatus.READY)
                log.warning("move_was_interrupted", shop=move.domain, pod=move.target)
        released += mine
    return released
