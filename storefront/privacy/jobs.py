"""The worker's tasks that export and erase a person, and its sweeps. Each is safe to run twice, and in two workers at
once."""

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.core.files import File
from django.db import transaction
from django_tasks import task

from storefront.kit import clock
from storefront.kit.queues import FILES
from storefront.kit.storage import StorageUnavailable
from storefront.payments.providers.base import ProviderUnavailable
from storefront.pods.moves import NOT_MOVING
from storefront.privacy.erasing import erase
from storefront.privacy.exporting import write_export
from storefront.privacy.models import DataRequest
from storefront.privacy.person import PersonNeeded, find_person

log = structlog.get_logger(__name__)

State = DataRequest.State
# After this time without a heartbeat, the worker is considered dead.
SILENCE = timedelta(minutes=10)
HEARTBEAT_EVERY = timedelta(seconds=1)
# How long a file is kept, and a request that erased nobody.
KEPT_FILE, KEPT_REQUEST = timedelta(days=7), timedelta(days=30)
WAIT_FOR_PROVIDER = timedelta(minutes=5)

BROKE_EXPORT = "The export stopped because of an internal error. Please try again later."
NO_STORAGE = "The file storage did not answer. Please start the export again later."
WENT_AWAY = "The export was interrupted. Please start it again."
BROKE_ERASURE = (
    "Erasing stopped because of an internal error. What was erased stays erased. Please start it again later."
)


@task(queue_name=FILES)
def run_export(shop_id: int, request_id: int) -> None:
    """Make the file. After an interruption it runs again from the start."""
    row = _at_work(shop_id, request_id, State.EXPORTING)
    if row is None:
        return
    try:
        _store_export(row)
    except StorageUnavailable as error:
        log.error("storage_away", data_request=row.pk, reason=str(error))
        stop(row, NO_STORAGE)
    except Exception:
        log.exception("person_export_failed", data_request=row.pk)
        stop(row, BROKE_EXPORT)


@task(queue_name=FILES)
def run_erasure(shop_id: int, request_id: int) -> None:
    """Erase the person. After an interruption, the erasure continues where it was. If a payment provider does not
    answer, it is retried after WAIT_FOR_PROVIDER."""
    row = _at_work(shop_id, request_id, State.ERASING)
    if row is None:
        return
    try:
        erase(row, now=clock.now(), beat=heartbeat(row))
    except PersonNeeded as refusal:
        stop(row, refusal.text)
    except ProviderUnavailable:
        due = clock.now() + WAIT_FOR_PROVIDER
        at_work = DataRequest.objects.filter(pk=row.pk, state=State.ERASING, tries=row.tries)
        if at_work.update(tries=row.tries + 1, heartbeat_at=due):
            run_erasure.using(run_after=due).enqueue(shop_id, row.pk)
    except Exception:
        log.exception("erasure_failed", data_request=row.pk)
        stop(row, BROKE_ERASURE)


def _at_work(shop_id: int, request_id: int, state: str) -> DataRequest | None:
    return DataRequest.objects.select_related("shop").filter(shop=shop_id, pk=request_id, state=state).first()


def _store_export(row: DataRequest) -> None:
    with tempfile.TemporaryFile() as written:
        write_export(find_person(row.shop, row.email), written, heartbeat(row))
        size = written.tell()
        written.seek(0)
        storage, name = row.file.storage, f"privacy/{row.shop_id}-{row.pk}.zip"
        # The file of an earlier export, or of a run that was killed.
        storage.delete(name)
        name = storage.save(name, File(written))
    done = {"state": State.OPEN, "file": name, "size": size, "exported_at": clock.now()}
    mine = DataRequest.objects.filter(pk=row.pk)
    # The export was given up, or the person was erased, so nobody needs the file.
    if not mine.filter(state=State.EXPORTING).update(**done) and not mine.filter(file=name).exists():
        storage.delete(name)


def heartbeat(row: DataRequest) -> Callable[[], None]:
    """Return a function to call regularly while the work runs, so that no other worker takes the request over."""
    beaten_at = clock.now()

    def beat() -> None:
        nonlocal beaten_at
        if clock.now() - beaten_at >= HEARTBEAT_EVERY:
            beaten_at = clock.now()
            DataRequest.objects.filter(pk=row.pk, state=row.state).update(heartbeat_at=beaten_at)

    return beat


def stop(row: DataRequest, reason: str) -> None:
    """End the work without a result. An erasure that had begun keeps its plan, and continues when it is started
    again."""
    DataRequest.objects.filter(pk=row.pk, state=row.state).update(state=State.OPEN, reason=reason[:1000])


def request_stopped(shop_id: int, request_id: int, *, reason: str) -> None:
    """End the work of a process that was stopped. `reason` is the end of a sentence."""
    row = DataRequest.objects.get(shop=shop_id, pk=request_id)
    stop(row, f"It was stopped, because {reason}. Please start it again later.")


def resume_silent_requests(*, now: datetime, limit: int) -> int:
    """Continue erasures whose worker was killed, and end exports whose worker was. Returns how many there were."""
    silent = DataRequest.objects.filter(
        NOT_MOVING, state__in=[State.EXPORTING, State.ERASING], heartbeat_at__lt=now - SILENCE
    )
    rows = list(silent.order_by("heartbeat_at")[:limit])
    for row in rows:
        same = DataRequest.objects.filter(pk=row.pk, state=row.state, heartbeat_at=row.heartbeat_at)
        if row.state == State.EXPORTING:
            same.update(state=State.OPEN, reason=WENT_AWAY)
        elif same.update(heartbeat_at=now):
            run_erasure.enqueue(row.shop_id, row.pk)
    return len(rows)


def delete_old_requests(*, now: datetime, limit: int) -> int:
    """Delete files that were made KEPT_FILE ago, and requests that were made KEPT_REQUEST ago and erased nobody.
    Returns how many."""
    idle = DataRequest.objects.filter(NOT_MOVING, state=State.OPEN)
    old = list(idle.filter(exported_at__lt=now - KEPT_FILE).exclude(file="").order_by("exported_at")[:limit])
    for row in old:
        with transaction.atomic():
            if idle.filter(pk=row.pk, file=row.file.name).update(file="", size=0):
                transaction.on_commit(partial(row.file.storage.delete, str(row.file.name)), robust=True)
    forgotten = idle.filter(created_at__lt=now - KEPT_REQUEST, file="", plan__isnull=True).order_by("created_at")
    ids = list(forgotten.values_list("pk", flat=True)[:limit])
    idle.filter(pk__in=ids, file="", plan__isnull=True).delete()
    return len(old) + len(ids)
