"""Texts of a product's parts in a shop's further languages: a row for each text, with a field for each language."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.admin_pages.rows import Column, Row, RowsField
from storefront.catalogue.models import Product
from storefront.catalogue.translating import ATTRIBUTE, OPTION, PICTURE, VARIANT, joined, key
from storefront.staff.admin_translations import LANGUAGES


def parts_field(codes: Iterable[str]) -> RowsField:
    columns = [Column("key", "", is_hidden=True), Column("text", _lazy("Text"), is_fixed=True)]
    columns += [Column(code, LANGUAGES.get(code, code), _lazy("Missing")) for code in codes]
    return RowsField(columns, add="", label=_lazy("Choices, details, extras and pictures"))


def part_rows(product: Product, codes: Iterable[str]) -> list[Row]:
    """A row for each text of the product's parts, with its translations."""
    stored = product.translations or {}
    codes = list(codes)
    texts = dict(_texts(product)) if product.pk else {}
    return [
        {"key": part, "text": text, **{code: (stored.get(code) or {}).get(part, "") for code in codes}}
        for part, text in texts.items()
    ]


def texts_of(rows: Iterable[Row], known: Iterable[Row], codes: Iterable[str]) -> dict[str, dict[str, str]]:
    """The texts that the rows change, by language and key. A row that the product does not have is left out."""
    before = {row["key"]: row for row in known}
    codes = list(codes)
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        shown = before.get(row["key"], {})
        for code in codes:
            if row["key"] in before and row[code] != shown[code]:
                found.setdefault(code, {})[row["key"]] = row[code]
    return found


def _texts(product: Product) -> Iterator[tuple[str, str]]:
    for attribute in product.attributes or []:
        yield key(ATTRIBUTE, attribute["name"]), attribute["name"]
        for value in attribute.get("values", []):
            yield key(ATTRIBUTE, attribute["name"], value), value
    for name, values in product.variants.values_list("name", "option_values"):
        if name != joined(values):
            yield key(VARIANT, name), name
    for option in product.options.prefetch_related("values"):
        yield key(OPTION, option.name), option.name
        labels = [value.label for value in option.values.all() if option.type != "text"]
        yield from ((key(OPTION, option.name, label), label) for label in labels)
    for alt in product.media.exclude(alt="").values_list("alt", flat=True):
        yield key(PICTURE, alt), alt


def form_with_parts(form: Any, codes: list[str]) -> Any:
    """The form with the field `parts`."""
    return type(form.__name__, (WithParts, form), {"parts": parts_field(codes), "codes": codes})


class WithParts:
    """The part of the product's form that has the rows."""

    codes: list[str] = []
    instance: Product
    initial: dict[str, Any]
    cleaned_data: dict[str, Any]
    changed_data: list[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["parts"] = part_rows(self.instance, self.codes)

    def changed_texts(self) -> dict[str, dict[str, str]]:
        found = super().changed_texts()  # type: ignore[misc]
        rows = self.cleaned_data.get("parts") if "parts" in self.changed_data else None
        for code, texts in texts_of(rows or (), self.initial["parts"], self.codes).items():
            found.setdefault(code, {}).update(texts)
        return found
