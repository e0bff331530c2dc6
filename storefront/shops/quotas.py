"""What one shop can take of the machine that all shops share: the operator's quotas (`settings.QUOTAS`; 0: none), or
those that the operator set for the shop alone (`QuotaUse.most`).

A use is counted in the shop's row of `QuotaUse` by one conditional UPDATE, in the transaction of what is counted: of
two at once, the second waits for the first, and sees its use. A transaction that is rolled back has used nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import F, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Greatest
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.format import format_bytes, format_count
from storefront.kit.refusals import Refusal
from storefront.shops.models import QuotaUse

# Where a kind is counted by hour or day, uses before the present one do not count. Others count what there is.
WINDOWS = {"mails": timedelta(hours=1), "orders": timedelta(days=1)}
ALWAYS = datetime(2000, 1, 1, tzinfo=UTC)
TITLES = {
    "files": _lazy("Files"),
    "products": _lazy("Products"),
    "orders": _lazy("Orders today"),
    "mails": _lazy("Emails this hour"),
    "tasks": _lazy("Imports and exports that are not finished"),
}
TEXTS = {
    "files": gettext_lazy(
        "This shop's files have reached the %(most)s that this deployment allows a shop. Ask its operator for more."
    ),
    "products": gettext_lazy(
        "This shop has the %(most)s products that this deployment allows a shop. Delete some first."
    ),
    "orders": gettext_lazy("This shop cannot take more orders today. Please try again tomorrow."),
    "mails": gettext_lazy("This shop has sent the %(most)s emails that this deployment allows a shop in an hour."),
    "tasks": gettext_lazy("%(most)s imports and exports of this shop are not finished. Please wait until one is."),
}


class QuotaReached(Refusal):
    """The shop has used up a quota of the deployment."""

    code = "quota_reached"

    def __init__(self, kind: str, most: int) -> None:
        super().__init__(TEXTS[kind] % {"most": shown(kind, most)})


def limits_of(shop_id: int) -> dict[str, int]:
    """The most that the shop can have of each kind; 0: no quota."""
    return settings.QUOTAS | own_limits(shop_id)


def own_limits(shop_id: int) -> dict[str, int]:
    """The limits that the operator set for the shop alone."""
    rows = QuotaUse.objects.filter(shop=shop_id, kind__in=settings.QUOTAS).values_list("kind", "most")
    return {kind: most for kind, most in rows if most is not None}


def use(kind: str, *, shop_id: int, now: datetime, amount: int = 1) -> None:
    """Count uses of the quota. Raises QuotaReached, and counts nothing, if they would exceed it."""
    since = window_of(kind, now)
    row = QuotaUse.objects.filter(shop=shop_id, kind=kind)
    for _ in range(2):
        if row.filter(_has_room(kind, F("used") + amount), since__gte=since).update(used=F("used") + amount):
            return
        if row.filter(_has_room(kind, Value(amount)), since__lt=since).update(since=since, used=amount):
            return
        # The shop's first use. If two are at once, each finds the row in the second round.
        QuotaUse.objects.bulk_create([QuotaUse(shop_id=shop_id, kind=kind, since=since, used=0)], ignore_conflicts=True)
    raise QuotaReached(kind, limits_of(shop_id)[kind])


def _has_room(kind: str, used: Combinable) -> Q:
    """Condition of a row of `QuotaUse` whose limit, its own or the deployment's, allows so many uses."""
    usual = settings.QUOTAS[kind]
    return Q(most=0) | Q(most__gte=used) | Q(most=None) & (Q(LessThanOrEqual(used, Value(usual))) if usual else Q())


def begin(kind: str, *, shop_id: int, used: int) -> None:
    """Count what a new shop begins with, of a quota that has no window; also if it is more than the limit."""
    QuotaUse.objects.create(shop_id=shop_id, kind=kind, since=ALWAYS, used=used)


@contextmanager
def held(kind: str, *, shop_id: int, now: datetime, amount: int) -> Iterator[None]:
    """`use`, given back if the block raises."""
    use(kind, shop_id=shop_id, now=now, amount=amount)
    try:
        yield
    except BaseException:
        free(kind, shop_id=shop_id, amount=amount)
        raise


def free(kind: str, *, shop_id: int, amount: int) -> None:
    """Give back uses of a quota that has no window. What was used before there were quotas was not counted."""
    used = Greatest(F("used") - amount, Value(0))
    QuotaUse.objects.filter(shop=shop_id, kind=kind).update(used=used)


def check(kind: str, *, most: int, count: Callable[[], int], adding: int = 1) -> None:
    """Raises QuotaReached if the shop has so many that more exceed `most`, its limit. Call it with the shop locked."""
    if most and adding and count() + adding > most:
        raise QuotaReached(kind, most)


def used(kind: str, *, shop_id: int, now: datetime) -> int:
    row = QuotaUse.objects.filter(shop=shop_id, kind=kind, since__gte=window_of(kind, now)).first()
    return row.used if row else 0


def shown(kind: str, number: int) -> str:
    return format_bytes(number) if kind == "files" else format_count(number)


def window_of(kind: str, now: datetime) -> datetime:
    """The beginning of the hour or day, in UTC, in which uses count together."""
    length = WINDOWS.get(kind)
    return now - (now - ALWAYS) % length if length else ALWAYS
