"""Lines of a basket with the names that their shopper sees. A cart stores those of the shop's main language."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

from storefront.carts.models import CartLine
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import full_name
from storefront.catalogue.translating import OPTION, Texts, of_part, of_variant
from storefront.shops.models import Shop


class Names:
    """The names of these products, and of variants, in one language. Two queries."""

    def __init__(self, shop: Shop, products: Iterable[int], variants: Iterable[int | None], language: str) -> None:
        rows = Product.objects.filter(shop=shop, pk__in=set(products)).exclude(translations=None)
        self._products = {
            pk: (name, found)
            for pk, name, translations in rows.values_list("pk", "name", "translations")
            if (found := (translations or {}).get(language))
        }
        wanted = {variant for variant in variants if variant} if self._products else set()
        of_variants = Variant.objects.filter(shop=shop, pk__in=wanted) if wanted else Variant.objects.none()
        self._variants = {
            pk: (name, values) for pk, name, values in of_variants.values_list("pk", "name", "option_values")
        }

    def texts(self, product_id: int | None) -> Texts:
        return self._products[product_id][1] if product_id in self._products else {}

    def name(self, product_id: int | None, variant_id: int | None, known: str) -> str:
        """The full name of the product or variant; `known` if it has none in this language."""
        if product_id not in self._products:
            return known
        name, found = self._products[product_id]
        variant = of_variant(found, *self._variants[variant_id]) if variant_id in self._variants else None
        return full_name(found.get("name") or name, variant)


def lines_in(shop: Shop, lines: Sequence[CartLine], language: str) -> list[CartLine]:
    """The lines with the texts of this language: copies, so that the cart keeps its own. No query in the main one."""
    if language in ("", shop.language) or not lines:
        return list(lines)
    items = [item for line in lines for item in line.bundle_items]
    products = [*(line.product_id for line in lines), *(item["product_id"] for item in items)]
    variants = [*(line.variant_id for line in lines), *(item["variant_id"] for item in items)]
    names = Names(shop, products, variants, language)
    return [_line(line, names) for line in lines]


def items_in(shop: Shop, items: Sequence[Mapping[str, Any]], language: str) -> list[dict[str, Any]]:
    """The items of a bundle, as a line stores them, with their names in this language."""
    if language in ("", shop.language) or not items:
        return [dict(item) for item in items]
    names = Names(shop, [item["product_id"] for item in items], [item["variant_id"] for item in items], language)
    return [_item(item, names) for item in items]


def _line(line: CartLine, names: Names) -> CartLine:
    shown, found = copy(line), names.texts(line.product_id)
    shown.name_snapshot = names.name(line.product_id, line.variant_id, line.name_snapshot)
    shown.options = [_choice(choice, found) for choice in line.options]
    shown.bundle_items = [_item(item, names) for item in line.bundle_items]
    return shown


def _choice(choice: dict[str, Any], found: Texts) -> dict[str, Any]:
    """A choice with its texts. What a shopper typed, which has no `value_id`, stays."""
    name, value = choice["name"], choice["value"]
    typed = choice.get("value_id") is None
    return choice | {
        "name": of_part(found, OPTION, name),
        "value": value if typed else of_part(found, OPTION, name, value),
    }


def _item(item: Mapping[str, Any], names: Names) -> dict[str, Any]:
    return {**item, "name": names.name(item["product_id"], item["variant_id"], item["name"])}
