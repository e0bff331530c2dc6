"""Reads rows that can be variations of products that the file does not name."""

from dataclasses import replace
from typing import Protocol

from django.utils.translation import gettext as _

from storefront.product_files.parsed_products import Failure, Keys, ParsedProduct, ParsedVariant
from storefront.product_files.rows import RowReader


class _RowsOfOneFile(Protocol):
    """The reader of one file."""

    def single(self, row: RowReader, kind: str) -> ParsedProduct | Failure:
        """The product that is this row."""

    def variation(
        self, parsed: ParsedProduct, row: RowReader, parent: RowReader | None, variation_values: dict[str, list[str]]
    ) -> ParsedVariant:
        """The variation that is this row."""


def single_or_variation(reader: _RowsOfOneFile, row: RowReader, kind: str) -> ParsedProduct | Failure:
    """A product that is a single row. Without a type, the row can also be a variation, which its ID or SKU decides."""
    found = reader.single(row, kind)
    if isinstance(found, ParsedProduct) and not row["slug"] and "slug" in row.columns and "type" not in row.columns:
        # In our exports, only variations have no slug.
        reason = _("the row has no slug, so it may be a variation; a new product needs the column Type, or a slug")
        found.refusal_if_new = found.refusal_if_new or reason
    if row["type"] or not (row["sku"] or row["id"]):
        return found
    variation = _variation(reader, row)
    if isinstance(found, Failure):
        return replace(variation, problems=found.problems, as_variant=variation)
    found.as_variant = variation
    return found


def lone_variation(reader: _RowsOfOneFile, row: RowReader) -> ParsedProduct:
    """A variation without a parent, which can only be an existing one."""
    variation = _variation(reader, row)
    row.refuse("parent", _("is empty; a variation needs its parent's SKU, or id: followed by the parent's ID"))
    return replace(variation, problems=row.problems, as_variant=variation)


def _variation(reader: _RowsOfOneFile, row: RowReader) -> ParsedProduct:
    """A product of which only this variation is known. The row is read again, so that problems are not repeated."""
    row = RowReader(row.columns, row.line, row.values)
    parsed = ParsedProduct(row.line, Keys(name=row["name"]), {})
    variation = reader.variation(parsed, row, None, {})
    parsed.keys.external_id, parsed.keys.sku = variation.external_id, variation.sku
    parsed.variants, parsed.problems = [variation], row.problems
    return parsed
