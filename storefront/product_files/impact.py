"""Counts what a file would change in a shop, before anything is written, and keeps the twenty largest changes.

An `Effect` is made from the same comparison that writes (`updating.py`): the assignments and plans of one product.
"""

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from itertools import count
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.dated.plans import Plan
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import full_name
from storefront.kit.format import format_count
from storefront.kit.money import ZERO
from storefront.product_files.existing import ExistingProduct

MAX_LARGEST = 20
# A price that rises to more than this multiple, or falls to less than this share, counts as repriced.
MUCH_HIGHER, MUCH_LOWER = Decimal("1.5"), Decimal("0.5")
# Ranks of changes: first products that are hidden and prices to 0.00, then variants that stop selling, then prices by
# their relative change.
_FIRST, _SECOND, _THIRD = 2, 1, 0
# (row, column, value) of the comparison.
Assignments = Iterable[tuple[Any, str, Any]]


@dataclass(slots=True)
class Effect:
    """What a file would do to one existing product. Counts are of the product and its variants."""

    prices_up: int = 0
    prices_down: int = 0
    prices_to_zero: int = 0
    put_on_sale: int = 0
    sales_ended: int = 0
    variants_off: int = 0
    drafts: int = 0
    hidden: int = 0
    repriced: int = 0
    pictures_dropped: int = 0
    # The largest change, with its rank and its relative size.
    largest: dict[str, Any] | None = None
    rank: tuple[int, float] = (-1, 0.0)

    def note(self, rank: int, size: float, existing: ExistingProduct, line: int, what: str, **values: Any) -> None:
        """Keep this change if it is the product's largest so far."""
        if (rank, size) > self.rank:
            product = existing.product
            self.rank = (rank, size)
            self.largest = {"line": line, "slug": product.slug, "name": product.name, "what": what} | values


COUNTED = [name for name in asdict(Effect()) if name not in ("largest", "rank")]


@dataclass
class Impact:
    """What a file would do to a shop: numbers of new and changed products, the sums of their effects, and the largest
    changes, the largest first."""

    created: int = 0
    updated: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    _heap: list[tuple[tuple[int, float], int, dict[str, Any]]] = field(default_factory=list)
    _numbers: Any = field(default_factory=lambda: count(0, -1))

    def add(self, effect: Effect) -> None:
        self.updated += 1
        for name in COUNTED:
            self.counts[name] += getattr(effect, name)
        if effect.largest:
            # The first of several changes of one size is kept.
            entry = (effect.rank, next(self._numbers), effect.largest)
            push = heapq.heappush if len(self._heap) < MAX_LARGEST else heapq.heappushpop
            push(self._heap, entry)

    @property
    def largest(self) -> list[dict[str, Any]]:
        return [change for *_unused, change in sorted(self._heap, reverse=True, key=lambda entry: entry[:2])]

    def as_dict(self) -> dict[str, Any]:
        return {"created": self.created, "updated": self.updated, **self.counts, "largest": self.largest}


# The words for people, in the order in which they are shown.
WORDS = {
    "created": _lazy("new products"),
    "updated": _lazy("products changed"),
    "prices_up": _lazy("prices up"),
    "prices_down": _lazy("prices down"),
    "prices_to_zero": _lazy("prices to 0.00"),
    "repriced": _lazy("products repriced by more than half"),
    "put_on_sale": _lazy("put on sale"),
    "sales_ended": _lazy("sales ended"),
    "hidden": _lazy("products hidden"),
    "drafts": _lazy("products no longer active"),
    "variants_off": _lazy("variants that stop selling"),
    "pictures_dropped": _lazy("pictures dropped"),
}


def impact_lines(impact: Impact) -> list[str]:
    """The impact as lines for people: the counts that are not zero, and the largest changes."""
    values = impact.as_dict()
    lines = [f"{format_count(values[name]):>9} {text}" for name, text in WORDS.items() if values[name]]
    if impact.largest:
        lines.append(_("Largest changes:"))
    return [
        *lines,
        *(
            "  " + _("line %(line)s, %(change)s") % {"line": each["line"], "change": change_text(each)}
            for each in impact.largest
        ),
    ]


def change_text(change: Mapping[str, Any]) -> str:
    """One of the largest changes in words: `Mug – Blue: price 9.50 to 19.50`."""
    name = full_name(change["name"], change["of"] or None)
    if change["what"] == "price":
        text = _("%(name)s: price %(before)s to %(after)s")
        return text % {"name": name, "before": change["before"], "after": change["after"]}
    if change["what"] == "variant off":
        return _("%(name)s: stops selling") % {"name": name}
    text = _("%(name)s: %(before)s to %(after)s")
    return text % {"name": name, "before": change["before"], "after": change["after"]}


def effect_of(existing: ExistingProduct, assignments: Assignments, media: Plan | None, line: int) -> Effect:
    """Return the effect of these assignments on the product, and of the plan for its pictures."""
    effect = Effect(pictures_dropped=len(media.deletes) if media else 0)
    changed: dict[int, dict[str, Any]] = {}
    for row, name, value in assignments:
        changed.setdefault(id(row), {})[name] = value
    has_variants = any(variant.is_active for variant in existing.variants)
    _add_visibility(effect, existing, changed.get(id(existing.product), {}), line)
    for variant in existing.variants:
        values = changed.get(id(variant), {})
        if variant.is_active and not values.get("is_active", True):
            effect.variants_off += 1
            effect.note(_SECOND, 0.0, existing, line, "variant off", of=variant.name, before="active", after="")
        elif variant.is_active:
            _add_prices(effect, existing, variant, values, line)
    if not has_variants:
        # The price of a product with variants follows theirs.
        _add_prices(effect, existing, existing.product, changed.get(id(existing.product), {}), line)
    effect.repriced = min(effect.repriced, 1)
    return effect


def _add_visibility(effect: Effect, existing: ExistingProduct, values: dict[str, Any], line: int) -> None:
    product = existing.product
    status = values.get("status", product.status)
    was_active, is_active = product.status == Product.Status.ACTIVE, status == Product.Status.ACTIVE
    effect.drafts = int(was_active and not is_active)
    was_shown = was_active and not product.exclude_from_catalog
    is_shown = is_active and not values.get("exclude_from_catalog", product.exclude_from_catalog)
    effect.hidden = int(was_shown and not is_shown)
    if effect.hidden or effect.drafts:
        after = _("not listed") if is_active else str(status)
        effect.note(_FIRST, 0.0, existing, line, "hidden", of="", before=str(product.status), after=after)


def _add_prices(
    effect: Effect, existing: ExistingProduct, row: Product | Variant, values: dict[str, Any], line: int
) -> None:
    before, after = row.price, values.get("price", row.price)
    was_on_sale = _is_on_sale(row.price, row.compare_price, row.sale_price)
    is_on_sale = _is_on_sale(
        after, values.get("compare_price", row.compare_price), values.get("sale_price", row.sale_price)
    )
    effect.put_on_sale += is_on_sale and not was_on_sale
    effect.sales_ended += was_on_sale and not is_on_sale
    if before == after:
        return
    effect.prices_up += after > before
    effect.prices_down += after < before
    effect.prices_to_zero += after == ZERO
    effect.repriced += bool(before) and not before * MUCH_LOWER <= after <= before * MUCH_HIGHER
    size = float(max(after / before, before / after)) if before and after else math.inf
    of = row.name if isinstance(row, Variant) else ""
    rank = _FIRST if after == ZERO else _THIRD
    effect.note(rank, size, existing, line, "price", of=of, before=str(before), after=str(after))


def _is_on_sale(price: Decimal, compare_price: Decimal, sale_price: Decimal | None) -> bool:
    return sale_price is not None or compare_price > price
