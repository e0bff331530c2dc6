"""What a shop has used of each quota, and its limits (`shops/quotas.py`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.catalogue.product_quota import product_count
from storefront.kit.refusals import InvalidFields
from storefront.shops import quotas
from storefront.shops.models import QuotaUse, Shop
from storefront.shops.task_quota import unfinished_tasks

# The greatest limit that can be set: a petabyte, also of what is counted.
MAX_LIMIT = 1024**5


@dataclass(frozen=True)
class Usage:
    """`most` is the shop's limit; 0: none."""

    kind: str
    used: int
    most: int

    def __str__(self) -> str:
        limit = quotas.shown(self.kind, self.most) if self.most else _("no limit")
        return _("%(titles)s: %(kind)s of %(limit)s") % {
            "titles": quotas.TITLES[self.kind],
            "kind": quotas.shown(self.kind, self.used),
            "limit": limit,
        }


def usage_of(shop: Shop, *, now: datetime) -> Iterator[Usage]:
    counts = {"products": lambda: product_count(shop), "tasks": lambda: unfinished_tasks(shop)}
    for kind, most in quotas.limits_of(shop.pk).items():
        used = counts[kind]() if kind in counts else quotas.used(kind, shop_id=shop.pk, now=now)
        yield Usage(kind, used, most)


@transaction.atomic
def set_limits(*, shop: Shop, limits: Mapping[str, int | None], now: datetime) -> None:
    """Set the shop's limits of these kinds: 0 is none, None that of the deployment. What is used already stays, also if
    it is more. Raises InvalidFields."""
    wrong = {kind: [_("Unknown quota.")] for kind in limits.keys() - settings.QUOTAS.keys()} | {
        kind: [_("Expected a number from 0 to %(most)s.") % {"most": f"{MAX_LIMIT:,}"}]
        for kind, most in limits.items()
        if most is not None and not 0 <= most <= MAX_LIMIT
    }
    if wrong:
        raise InvalidFields(errors=wrong)
    # So that of two who set limits at once, the second records the first one's as those before.
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    before = dict.fromkeys(limits) | {kind: most for kind, most in quotas.own_limits(shop.pk).items() if kind in limits}
    unused = [QuotaUse(shop=shop, kind=kind, since=quotas.ALWAYS, used=0) for kind in limits]
    # A shop that has used something has the row, or gets it at this moment.
    QuotaUse.objects.bulk_create(unused, ignore_conflicts=True)
    for kind, most in limits.items():
        QuotaUse.objects.filter(shop=shop, kind=kind).update(most=most)
    about = audit.Object("shop", shop.pk, shop.name)
    audit.record_change(shop=shop, action="quotas.updated", object=about, before=before, after=dict(limits), now=now)
