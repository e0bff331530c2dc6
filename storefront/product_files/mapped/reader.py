"""Reads a table by a mapping of its columns. Rows with the same key are the variants of one product."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from babel.numbers import get_currency_symbol
from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.models import Product
from storefront.product_files import parsers
from storefront.product_files.csv_reading import normalised_header
from storefront.product_files.mapped.mapping import LISTS, Mapping
from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant
from storefront.product_files.parsers import LIMITS
from storefront.product_files.programs.format import ALONE, ProductRows, ProgramFormat
from storefront.product_files.programs.values import (
    category_paths,
    chosen,
    fill_simple,
    listed,
    make_variable,
    new_product,
    new_variant,
    option_text,
    pictures,
    set_stock,
)
from storefront.product_files.rows import KEEP, ColumnIndex, RowReader
from storefront.product_files.woocommerce.headers import KILOGRAMS
from storefront.shops.models import Shop

_PRODUCT, _LIMITS = Product.Status, LIMITS[Product]
_STATUS = chosen(
    {
        **dict.fromkeys(("active", "true", "yes", "1", "published", "visible"), _PRODUCT.ACTIVE),
        **dict.fromkeys(("draft", "false", "no", "0", "hidden"), _PRODUCT.DRAFT),
        "archived": _PRODUCT.ARCHIVED,
        "": KEEP,
    }
)
_TEXTS: dict[str, tuple[str, parsing.Parse]] = {
    "name": ("name", parsers.required(parsers.text(_LIMITS["name"]))),
    "description": ("description", parsing.html),
    "short_description": ("short_description", parsing.html),
    "status": ("status", _STATUS),
}


class _Rows(ProductRows):
    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime, mapping: Mapping) -> None:
        super().__init__(columns, shop, now)
        self.mapping, self.constants = mapping, mapping.constants
        money = _money(shop.currency)
        weight = parsing.measure(KILOGRAMS[mapping.weight_unit], blank=Decimal("0.000"))
        self.sales: dict[str, parsing.Parse] = {
            "sku": parsers.text(_LIMITS["sku"]),
            "barcode": parsers.text_or_none(_LIMITS["barcode"]),
            "price": parsers.required(money),
            "compare_price": money,
            "cost_price": money,
            "weight": weight,
        }
        self.lists = {name: [each for each in columns.index if each.partition(" ")[0] == name] for name in LISTS}

    def group(self, row: RowReader, above: str) -> str:
        return f"group:{row['group']}" if row["group"] else f"{ALONE}{row.line}"

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first = rows[0]
        fields = {
            name: self._read(first, member, parse) for member, (name, parse) in _TEXTS.items() if self._has(member)
        }
        slug = parsers.slug(first["slug"]) if first["slug"] else ""
        parsed = new_product(first, {name: value for name, value in fields.items() if value not in (None, KEEP)}, slug)
        self._relations(parsed, rows)
        variants = [(row, self._variant(parsed, row, order)) for order, row in enumerate(rows)]
        if len(rows) == 1 and not variants[0][1].option_values:
            fill_simple(parsed, variants[0][1])
        else:
            # A list, such as one of a supplier, can lack some.
            make_variable(parsed, variants, "option1_value", is_complete=False)
        missing = [name for name in ("name", "price") if name not in self.columns]
        if missing:
            needed = _(" and one that is its ").join(_(name) for name in missing)
            parsed.refusal_if_new = _("a new product needs a column that is its %(needed)s") % {"needed": needed}
        return parsed

    def _has(self, member: str) -> bool:
        return member in self.columns or member in self.constants

    def _read(self, row: RowReader, member: str, parse: parsing.Parse) -> Any:
        """The member's value, from its column or its constant."""
        return row.read_part(member, parse, row[member] if member in self.columns else self.constants[member])

    def _texts(self, row: RowReader, member: str) -> list[str]:
        """The texts of a list, from all of its columns or its constant."""
        cells = [row[column] for column in self.lists[member]] or [self.constants.get(member, "")]
        return list(dict.fromkeys(text for cell in cells for text in listed(cell, self.mapping.list_separator)))

    def _relations(self, parsed: ParsedProduct, rows: list[RowReader]) -> None:
        first = rows[0]
        if self._has("brand"):
            parsed.related_names["brand"] = self._read(first, "brand", parsers.text(200)) or None
        if self.lists["tags"] or "tags" in self.constants:
            parsed.fields["tags"] = [
                first.read_part("tags", parsers.text(), tag, "") for tag in self._texts(first, "tags")
            ]
        if self.lists["categories"] or "categories" in self.constants:
            paths = (path.split(self.mapping.level_separator) for path in self._texts(first, "categories"))
            parsed.categories = category_paths(first, "categories", paths)
        if self.lists["images"]:
            found = [each for row in rows for each in pictures(parsed, row, self.lists["images"])]
            parsed.media = list({each.url: each for each in found}.values())

    def _variant(self, parsed: ParsedProduct, row: RowReader, order: int) -> ParsedVariant:
        values: dict[str, str] = {}
        for n in (1, 2, 3):
            name = option_text(
                row, f"option{n}_name", row[f"option{n}_name"] or self.constants.get(f"option{n}_name", "")
            )
            value = option_text(row, f"option{n}_value", row[f"option{n}_value"])
            if value and not name:
                row.refuse(f"option{n}_name", _("is empty, but the option has a value"))
            elif value:
                values[name] = value
        variant = new_variant(row, values, order)
        for member, parse in self.sales.items():
            if self._has(member):
                variant.fields[member] = self._read(row, member, parse)
        if self._has("stock_qty"):
            stock = row["stock_qty"] if "stock_qty" in self.columns else self.constants["stock_qty"]
            set_stock(parsed, row, variant, "stock_qty", stock or None)
        return variant


class MappedFormat(ProgramFormat):
    """The format of a table that is read by this mapping."""

    def __init__(self, mapping: Mapping) -> None:
        columns = {normalised_header(header): member for header, member in mapping.columns.items()}
        super().__init__(
            program="a mapped table",
            EXPECTED=", ".join(mapping.columns),
            headers={},
            needed=frozenset(),
            rows=partial(_Rows, mapping=mapping),
            NUMBERS=("price", "compare_price", "cost_price", "stock_qty", "weight"),
        )
        object.__setattr__(self, "known", _distinct(columns))

    def column_of(self, header: str) -> str | None:
        return self.known.get(normalised_header(header))

    def harmless_values(self, header: str) -> set[str] | None:
        """Empty for a column without a member, which is reported at the first value that is lost."""
        return None if self.column_of(header) else set()

    def warnings(self, headers: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from ()


def _distinct(columns: dict[str, str]) -> dict[str, str]:
    """The member of each header, with a number from the second column of a list on."""
    found: dict[str, str] = {}
    for header, member in columns.items():
        count = sum(each.partition(" ")[0] == member for each in found.values())
        found[header] = f"{member} {count + 1}" if count else member
    return found


def _money(currency: str) -> parsing.Parse:
    """A parser for amounts, which can have the sign or the code of the shop's currency."""
    parse, signs = parsers.money(currency), (currency, get_currency_symbol(currency, "en"))

    def of_currency(value: str) -> Any:
        for sign in signs:
            value = value.removeprefix(sign).removesuffix(sign).strip()
        return parse(value)

    return of_currency
