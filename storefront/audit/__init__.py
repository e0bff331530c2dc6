"""The audit log of a shop: who did what, from where, and the values before and after.

Actions call `record` inside their transaction, so that the entry and the change are committed or rolled back together.
The actor is whoever acts now (`acting`).

Never changes or deletes an entry, other than to erase a person. May import `kit` and `shops`.

Not recorded: reads, carts, periodic work of the worker, and a write that changed nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils.translation import override

from storefront.audit import owner_mails
from storefront.audit import values as audit_values
from storefront.audit.known_actions import ACTIONS
from storefront.audit.values import Values, column_values, differences, without_empty
from storefront.shops.acting import (
    SYSTEM,
    Actor,
    Kind,
    act_as,
    acting,
    caller,
    current,
    current_actor,
    current_place,
    staff,
)
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import Shop, User

__all__ = ["SYSTEM", "Actor", "Kind", "Object", "act_as", "acting", "caller", "current_actor", "current_place", "staff"]

# Object types of rows that people know by another name than the model's.
TYPES = {
    "apitoken": "token",
    "staffmember": "staff",
    "staffinvitation": "invitation",
    "installation": "app",
    "registration": "webhook",
    "allowedscripthost": "script_host",
    "pickupplace": "pickup_place",
    "provideraccount": "provider_account",
    "giftcard": "gift_card",
    "mailtext": "mail_text",
    "missingpath": "missing_page",
    "shopdomain": "domain",
}


@dataclass(frozen=True)
class Object:
    """The object of an entry: its type, such as `product`, its id and its name."""

    type: str
    id: int | None = None
    name: str = ""


def person(user: User) -> Object:
    """A staff user as the object of an entry."""
    return Object("staff", user.pk, staff(user).name)


def record(
    *,
    shop: Shop,
    action: str,
    object: models.Model | Object | None = None,
    before: Values | None = None,
    after: Values | None = None,
    actor: Actor | None = None,
    now: datetime,
) -> None:
    """Write one entry, in the caller's transaction. `action` is a key of `ACTIONS`; `before` and `after` hold the
    changed values. `actor` is for actors that are not known where the call comes in, such as the shopper of an order.
    """
    entry = new_entry(shop=shop, action=action, object=object, before=before, after=after, actor=actor, now=now)
    entry.save()
    owner_mails.notify_owners(shop, [entry])


def record_change(
    *, shop: Shop, action: str, object: models.Model | Object, before: Values, after: Values, now: datetime
) -> None:
    """Write one entry with the values that differ between `before` and `after`; nothing if none does."""
    was, became = differences(before, after)
    if was or became:
        record(shop=shop, action=action, object=object, before=was, after=became, now=now)


def record_created(*, shop: Shop, object: models.Model, now: datetime, action: str | None = None) -> None:
    """Write one entry for a new row, with all its values."""
    word, after = action or f"{type_of(object)}.created", without_empty(column_values(object))
    record(shop=shop, action=word, object=object, after=after, now=now)


def record_deleted(*, shop: Shop, rows: Iterable[models.Model], now: datetime, action: str | None = None) -> None:
    """Write one entry for each row that is about to be deleted, with all its values."""
    entries = [
        new_entry(
            shop=shop,
            action=action or f"{type_of(row)}.deleted",
            object=row,
            before=without_empty(column_values(row)),
            now=now,
        )
        for row in rows
    ]
    record_all(entries)
    owner_mails.notify_owners(shop, entries)


def record_all(entries: Iterable[AuditEntry]) -> None:
    """Write several entries in one statement."""
    AuditEntry.objects.bulk_create(entries)


def new_entry(
    *,
    shop: Shop,
    action: str,
    object: models.Model | Object | None = None,
    before: Values | None = None,
    after: Values | None = None,
    actor: Actor | None = None,
    now: datetime,
) -> AuditEntry:
    """The entry that `record` writes, unsaved. Raises ValueError for an unknown action."""
    if action not in ACTIONS:
        raise ValueError(f"The audit log has no word {action!r}.")
    about, now_acting = _about(object), current()
    who = actor or current_actor()
    if now_acting is not None:
        now_acting.recorded.add((about.type, about.id))
    return AuditEntry(
        shop=shop,
        at=now,
        keep_until=(now + timedelta(days=settings.AUDIT_DAYS)).date(),
        actor_kind=who.kind,
        actor_id=who.id,
        actor_name=who.name[:254],
        place=current_place()[:255],
        request_id=now_acting.request_id if now_acting else "",
        action=action,
        object_type=about.type,
        object_id=about.id,
        object_name=about.name[:255],
        before=audit_values.bounded(before),
        after=audit_values.bounded(after),
    )


def is_recorded(object: Object) -> bool:
    """Whether an entry about this object was recorded in this request, so that its form need not record one."""
    now_acting = current()
    return now_acting is not None and (object.type, object.id) in now_acting.recorded


def type_of(row: models.Model | type[models.Model]) -> str:
    """The log's object type of such rows: `product`, `tax_rate`, `token`."""
    name = str(row._meta.model_name)
    return TYPES.get(name) or "_".join(str(row._meta.verbose_name_raw).lower().split())


def object_of(row: models.Model) -> Object:
    """The row as the object of an entry."""
    with override(None):
        return Object(type_of(row), row.pk, str(row).replace("\0", ""))


def _about(object: models.Model | Object | None) -> Object:
    return object_of(object) if isinstance(object, models.Model) else object or Object("")
