import time
from collections.abc import Iterator

from django_tasks import task
from django_tasks_db.models import DBTaskResult

from storefront.server.doctor.findings import Finding, State, listed
from storefront.server.metrics import database

CHECK = "worker"
# Seconds in which a worker takes up a task: it looks once a second, and may be busy with another one.
DEADLINE_SECONDS, POLL_SECONDS = 20.0, 0.2
# Seconds after which what waits has waited for long.
MAX_WAIT_SECONDS = 60.0


@task()
def answer(_shop_id: None) -> None:
    """Do nothing: that a worker runs this shows that one lives."""


def look(seconds: float = DEADLINE_SECONDS) -> Iterator[Finding]:
    """Whether a worker runs a task that is queued for it now, and what has waited for long."""
    waits = [
        Finding(CHECK, State.WARNING, f"{count} of the queue {queue} wait, the oldest for {age:.0f} s.")
        for queue, (count, age) in sorted(database.read().queues.items())
        if age > MAX_WAIT_SECONDS
    ]
    if is_answered(seconds):
        yield Finding(CHECK, State.OK, "A worker runs queued tasks.")
    else:
        text = f"No worker ran a queued task within {seconds:.0f} s."
        yield Finding(CHECK, State.MISSING, text, "Start one: systemctl start storefront-worker.")
    yield from listed(waits)


def is_answered(seconds: float) -> bool:
    """Queue the task and wait until a worker has run it. Returns False if none has claimed it until then. A worker of
    another release, which does not know the task, fails it, and lives."""
    deadline = time.monotonic() + seconds
    mine = DBTaskResult.objects.filter(pk=answer.enqueue(None).id)
    while not mine.finished().exists() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    unclaimed, _ = mine.ready().delete()
    mine.finished().delete()
    return not unclaimed
