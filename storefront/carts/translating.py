"""A cart's lines as integrations read them, with their texts in a further language of the shop."""

from collections.abc import Iterable, Mapping
from typing import Any

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import full_name
from storefront.catalogue.translating import OPTION, Texts, of_part, of_variant
from storefront.shops.models import Shop

Record = dict[str, Any]


def translate_lines(shop: Shop, records: Iterable[Record], language: str | None) -> None:
    """Give the records of lines the texts that their products have in this language; None: they stay. What is not
    translated, and chosen options that the product has no more, stay as the line was added. At most two queries."""
    if language is None:
        return
    records = list(records)
    parts = [part for record in records for part in (record, *record["bundle_items"])]
    names = _Names(shop, parts, language)
    for record in records:
        record["name_snapshot"] = names.of(record) or record["name_snapshot"]
        for item in record["bundle_items"]:
            item["name"] = names.of(item) or item["name"]
        texts = names.texts.get(record["product_id"], {})
        for option in record["options"]:
            option["value"] = of_part(texts, OPTION, option["name"], option["value"])
            option["name"] = of_part(texts, OPTION, option["name"])


class _Names:
    """The names of products and variants in a language. `texts`: by product, all that it has in the language."""

    def __init__(self, shop: Shop, parts: Iterable[Mapping[str, Any]], language: str) -> None:
        parts = list(parts)
        products = Product.objects.filter(shop=shop, pk__in={part["product_id"] for part in parts})
        found = list(products.values_list("pk", "name", "translations"))
        self.names = {pk: name for pk, name, _ in found}
        self.texts: dict[int, Texts] = {pk: (all or {}).get(language) or {} for pk, _, all in found}
        wanted = {part["variant_id"] for part in parts if part["variant_id"] and self.texts.get(part["product_id"])}
        variants = Variant.objects.filter(shop=shop, pk__in=wanted) if wanted else Variant.objects.none()
        self.variants = {pk: (name, values) for pk, name, values in variants.values_list("pk", "name", "option_values")}

    def of(self, part: Mapping[str, Any]) -> str | None:
        """The name of a line or of a bundle's item; None if it is not translated."""
        texts = self.texts.get(part["product_id"])
        if not texts:
            return None
        before = self.names[part["product_id"]]
        name, variant = texts.get("name") or before, self.variants.get(part["variant_id"])
        shown = of_variant(texts, *variant) if variant else None
        return None if (name, shown) == (before, variant and variant[0]) else full_name(name, shown)
