"""Opens a product file: detects its format and encoding, and collects notes about the file as a whole."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from storefront.product_files.csv_reading import Table, UnreadableFile
from storefront.product_files.native import reader as native_reader
from storefront.product_files.parsed_products import Problem, ReadResult
from storefront.product_files.rows import ColumnIndex, read_numbers
from storefront.product_files.shopify import headers as shopify_headers
from storefront.product_files.shopify import reader as shopify_reader
from storefront.product_files.woocommerce import headers as woocommerce_headers
from storefront.product_files.woocommerce import reader as woocommerce_reader
from storefront.shops.models import Shop

FORMATS = ("auto", "woocommerce", "shopify", "native")
READERS: dict[str, Any] = {"woocommerce": woocommerce_reader, "shopify": shopify_reader}
HEADERS: dict[str, Any] = {"woocommerce": woocommerce_headers, "shopify": shopify_headers}


@dataclass
class OpenedFile:
    """An opened product file. `source` is the one that the file states, if it does. `skus` reads the file once more."""

    format: str
    size: int
    position: Callable[[], int]
    results: Iterator[ReadResult]
    skus: Callable[[], Iterator[str]]
    # Notes about the file as a whole.
    notes: list[Problem]
    source: str = ""

    @property
    def has_ids(self) -> bool:
        """Returns True if products can have ids of the program that wrote the file."""
        return self.format == "woocommerce"


def open_source(file: Path, format: str, encoding: str = "", *, shop: Shop, update: bool, now: datetime) -> OpenedFile:
    """Open the file with the reader of `format`, which "auto" detects, as is the encoding if none is stated. `update`
    is true if existing products are to be updated. Raises UnreadableFile."""
    if format not in FORMATS:
        raise UnreadableFile(f"Unknown format {format}; expected one of {', '.join(FORMATS)}.")
    if not file.is_file():
        raise UnreadableFile(f"{file} is not a file." if file.exists() else f"There is no file {file}.")
    try:
        table = Table(file, encoding)
        if format == "native" or (format == "auto" and native_reader.recognises(table)):
            return OpenedFile(
                "native",
                table.size,
                table.position,
                native_reader.read(table, shop.currency),
                partial(native_reader.skus, copy(table)),
                table.notes,
            )
        return _open_table(table, format, shop=shop, update=update, now=now)
    except OSError as error:
        raise UnreadableFile(f"The file {file} cannot be read: {error.strerror}.") from None


def _open_table(table: Table, format: str, *, shop: Shop, update: bool, now: datetime) -> OpenedFile:
    tried = [format] if format != "auto" else ["shopify", "woocommerce"]
    for name in tried:
        headers, reader = HEADERS[name], READERS[name]
        table.find_header(headers.column_of)
        found = [(header, _carried_column(headers, header)) for header in table.headers]
        if reader.recognises({column for _, column in found}):
            columns = ColumnIndex(found)
            if refusal := headers.refusal(table.headers, columns.index, update=update):
                raise UnreadableFile(refusal)
            read_numbers(table, columns, reader.NUMBERS)
            results = reader.read(table, columns, shop=shop, now=now)
            # A table of its own, since reading a table once more would change its position.
            skus = partial(reader.skus, copy(table), columns)
            source = woocommerce_reader.stated_source(copy(table), columns) if name == "woocommerce" else ""
            warnings = [
                Problem(table.header_line, header, reason, "warning")
                for header, reason in headers.warnings(table.headers)
            ]
            notes = [*table.notes, *warnings]
            return OpenedFile(name, table.size, table.position, results, skus, notes, source)
    expected = "; or ".join(f"{name}: {READERS[name].EXPECTED}" for name in tried)
    beginning = ", ".join(header[:40] for header in table.headers[:6])
    raise UnreadableFile(
        f"The header row does not match a supported product file. It begins: {beginning}. Expected ({expected}). "
        "WooCommerce's headers can be in English, Dutch, French, German, Italian, Persian, Polish, Portuguese, "
        "Russian, Serbian, Spanish, Swedish or Turkish."
    )


def _carried_column(headers: Any, header: str) -> str | None:
    return headers.column_of(header) if headers.harmless_values(header) is None else None
