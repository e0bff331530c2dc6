"""Undoing an import in the background."""

from datetime import datetime

import structlog
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django_tasks import task

from storefront import audit
from storefront.kit import clock
from storefront.kit.queues import FILES
from storefront.kit.refusals import Refusal
from storefront.product_files.jobs import SILENCE
from storefront.product_files.models import ProductImport
from storefront.product_files.undoing import NotUndoable, refusal_to_undo, undo_import
from storefront.shops.models import Shop, User
from storefront.shops.staff_language import speaking_to
from storefront.shops.task_quota import check_tasks

log = structlog.get_logger(__name__)

STOPPED = _lazy("Undoing it was stopped, because %(reason)s. What is undone stays undone. Undo it again to continue.")
BROKE = _lazy("of an internal error")
State = ProductImport.State


def refusal_to_start(row: ProductImport, now: datetime) -> str:
    """Return the reason why undoing cannot be started; empty if it can. One that gives no sign of life can be started
    again."""
    is_alive = row.heartbeat_at and row.heartbeat_at > now - SILENCE
    if row.state == State.UNDOING and is_alive:
        return _("This import is being undone.")
    return refusal_to_undo(row, now)


@transaction.atomic
def start_undo(*, shop: Shop, row: ProductImport, user: User | None, now: datetime) -> None:
    """Have the worker undo the import. Raises NotUndoable and QuotaReached."""
    locked = ProductImport.objects.select_for_update().get(shop=shop, pk=row.pk)
    if reason := refusal_to_start(locked, now):
        raise NotUndoable(reason)
    check_tasks(shop=shop)
    ProductImport.objects.filter(pk=row.pk).update(state=State.UNDOING, heartbeat_at=now, reason="")
    about = audit.Object("import", row.pk, row.file_name)
    audit.record(shop=shop, action="import.undo_started", object=about, now=now)
    run_undo.enqueue(shop.pk, row.pk, user.pk if user else None, audit.current_place())


@task(queue_name=FILES)
def run_undo(shop_id: int, import_id: int, user_id: int | None = None, asked_from: str = "") -> None:
    """Undo the import on behalf of whoever asked for it, in the language of their admin. After an interruption, it can
    run again."""
    row = ProductImport.objects.select_related("shop").filter(shop=shop_id, pk=import_id, state=State.UNDOING).first()
    if row is None:
        return
    user = User.objects.filter(pk=user_id).first() if user_id else None
    with speaking_to(user, row.shop):
        _undo(row, user, asked_from)


def _undo(row: ProductImport, user: User | None, asked_from: str) -> None:
    try:
        with audit.acting(audit.staff(user) if user else audit.SYSTEM, place=asked_from):
            undo_import(shop=row.shop, row=row, now=clock.now())
    except Refusal as refusal:
        _stop(row, refusal.text)
    except Exception:
        log.exception("import_undo_failed", product_import=row.pk)
        undo_stopped(row.shop_id, row.pk, reason=str(BROKE))


def undo_stopped(
    shop_id: int, import_id: int, user_id: int | None = None, asked_from: str = "", *, reason: str
) -> None:
    """Note that undoing was stopped, so that it can be started again. `reason` is the end of a sentence."""
    _stop(ProductImport.objects.get(shop=shop_id, pk=import_id), STOPPED % {"reason": reason})


def _stop(row: ProductImport, reason: str) -> None:
    ProductImport.objects.filter(pk=row.pk, state=State.UNDOING).update(state=State.DONE, reason=reason)
