"""Which workers run: each writes a row of its own every BEAT_SECONDS."""

import os
import secrets
import socket
from datetime import datetime, timedelta

from storefront.server.models import WorkerHeartbeat

BEAT_SECONDS = 10
# A worker without a beat for so long is taken for dead, and its row is deleted after KEPT.
LIVE, KEPT = timedelta(seconds=60), timedelta(days=1)


class Heartbeat:
    """The beat of this worker, as the batch of a sweep."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(16)

    def beat(self, *, now: datetime, limit: int) -> int:
        """Write the row. Returns how many rows of dead workers were deleted."""
        if not WorkerHeartbeat.objects.filter(pk=self.id).update(beat_at=now):
            place = {"host": socket.gethostname()[:255], "pid": os.getpid()}
            WorkerHeartbeat.objects.create(pk=self.id, started_at=now, beat_at=now, **place)
        old = WorkerHeartbeat.objects.filter(beat_at__lt=now - KEPT).values_list("pk", flat=True)[:limit]
        return WorkerHeartbeat.objects.filter(pk__in=list(old)).delete()[0]


def live_workers(now: datetime) -> int:
    """The number of workers, of all machines, that have written their row within LIVE."""
    return WorkerHeartbeat.objects.filter(beat_at__gt=now - LIVE).count()
