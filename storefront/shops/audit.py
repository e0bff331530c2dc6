"""The audit log of a shop: who did what, from where, and the values before and after.

Actions call `record` inside their transaction, so that the entry and the change are committed or rolled back together.
The actor is known only where a call comes in: the credential of an API call, the session of the admin, a command, the
worker. There it is set once (`acting`, `act_as`), in a context variable that ends with the request, command or task. As
an argument of sixty actions, sixty callers could get it wrong. Without an actor, as in a shell, the system is recorded.

Not recorded: reads, carts, periodic work of the worker, and a write that changed nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import models

from storefront.shops import audit_values
from storefront.shops.audit_actions import ACTIONS
from storefront.shops.audit_models import AuditEntry
from storefront.shops.audit_values import Values, column_values, differences, without_empty
from storefront.shops.models import Shop, User
from storefront.shops.request import Caller

Kind = AuditEntry.Kind

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
    "shopdomain": "domain",
}


@dataclass(frozen=True)
class Actor:
    """Who acts. `name` is for people to read, and can be erased from the log."""

    kind: str
    id: int | None = None
    name: str = ""

    def __str__(self) -> str:
        """The actor in the log, which names no person."""
        return str(self.kind) if self.id is None else f"{self.kind} {self.id}"


SYSTEM = Actor(Kind.SYSTEM)


@dataclass(frozen=True)
class Object:
    """The object of an entry: its type, such as `product`, its id and its name."""

    type: str
    id: int | None = None
    name: str = ""


@dataclass
class Acting:
    """Who acts in this request, command or task, from where, and the objects (type and id) recorded so far."""

    actor: Actor
    place: Callable[[], str]
    request_id: str = ""
    recorded: set[tuple[str, int | None]] = field(default_factory=set)


_acting: ContextVar[Acting | None] = ContextVar("acting", default=None)


@contextmanager
def acting(actor: Actor, *, place: Callable[[], str] | str = "", request_id: str = "") -> Iterator[None]:
    """Set the actor for the block; `act_as` can replace it inside. `place` may be a function, which is called only if
    something is recorded."""
    get_place = place if callable(place) else lambda: place
    token = _acting.set(Acting(actor, get_place, request_id))
    try:
        yield
    finally:
        _acting.reset(token)


def act_as(actor: Actor) -> None:
    """Replace the actor of the current `acting` block, once the caller is known, and name it in the log lines of the
    request by its kind and id. Without such a block, does nothing."""
    current = _acting.get()
    if current is not None:
        current.actor = actor
        if actor.id is not None:
            structlog.contextvars.bind_contextvars(caller=str(actor))


def staff(user: User) -> Actor:
    return Actor(Kind.STAFF, user.pk, user.email or user.get_username())


def person(user: User) -> Object:
    """A staff user as the object of an entry."""
    return Object("staff", user.pk, staff(user).name)


def caller(caller: Caller) -> Actor:
    """An installed app, or one of the shop's own tokens, as an actor."""
    if caller.installation_id is not None:
        return Actor(Kind.APP, caller.installation_id, caller.name)
    return Actor(Kind.TOKEN, caller.token_id, caller.name)


def current_actor() -> Actor:
    current = _acting.get()
    return current.actor if current else SYSTEM


def current_place() -> str:
    """Where the current actor acts from: an IP address or network, or a machine's name; empty if unknown."""
    current = _acting.get()
    return current.place() if current else ""


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
    new_entry(shop=shop, action=action, object=object, before=before, after=after, actor=actor, now=now).save()


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
    record_all(
        new_entry(
            shop=shop,
            action=action or f"{type_of(row)}.deleted",
            object=row,
            before=without_empty(column_values(row)),
            now=now,
        )
        for row in rows
    )


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
    about, current = _about(object), _acting.get()
    who = actor or current_actor()
    if current is not None:
        current.recorded.add((about.type, about.id))
    return AuditEntry(
        shop=shop,
        at=now,
        keep_until=(now + timedelta(days=settings.AUDIT_DAYS)).date(),
        actor_kind=who.kind,
        actor_id=who.id,
        actor_name=who.name[:254],
        place=current_place()[:255],
        request_id=current.request_id if current else "",
        action=action,
        object_type=about.type,
        object_id=about.id,
        object_name=about.name[:255],
        before=audit_values.bounded(before),
        after=audit_values.bounded(after),
    )


def is_recorded(object: Object) -> bool:
    """Whether an entry about this object was recorded in this request, so that its form need not record one."""
    current = _acting.get()
    return current is not None and (object.type, object.id) in current.recorded


def type_of(row: models.Model | type[models.Model]) -> str:
    """The log's object type of such rows: `product`, `tax_rate`, `token`."""
    name = str(row._meta.model_name)
    return TYPES.get(name) or "_".join(str(row._meta.verbose_name).lower().split())


def object_of(row: models.Model) -> Object:
    """The row as the object of an entry."""
    return Object(type_of(row), row.pk, str(row).replace("\0", ""))


def _about(object: models.Model | Object | None) -> Object:
    return object_of(object) if isinstance(object, models.Model) else object or Object("")
