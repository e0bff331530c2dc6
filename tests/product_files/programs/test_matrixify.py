"""Matrixify's export: the commands are obeyed, and nothing is ever deleted by a file."""

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.encodings import UnreadableFile
from tests.catalogue.factories import make_product
from tests.product_files.files import errors, imported, warnings


def row(handle: str, command: str, price: str = "9.50", **given: str) -> dict[str, str]:
    made = {"ID": "1", "Handle": handle, "Command": command, "Title": handle.capitalize(), "Variant Price": price}
    return made | {"Variant SKU": handle[:1], "Variant Command": "MERGE", "Row #": "1"} | given


def prices(shop) -> dict[str, str]:
    return {each.slug: str(each.price) for each in Product.objects.filter(shop=shop)}


def test_commands_decide_what_is_created_and_updated(shop, tmp_path):
    for slug in ("mug", "cup", "tee"):
        make_product(shop, slug.capitalize(), slug=slug, sku=slug[:1], price="5.00")
    rows = [row("mug", "NEW"), row("cup", "UPDATE"), row("tee", "MERGE"), row("jar", "UPDATE"), row("pot", "NEW")]
    report = imported(shop, [*rows, row("pan", "IGNORE")], tmp_path, update=True)
    assert prices(shop) == {"mug": "5.00", "cup": "9.50", "tee": "9.50", "pot": "9.50"}
    assert (report.created, report.updated, report.skipped, report.failed) == (1, 2, 1, 1)
    assert errors(report) == ["line 5: its Command is UPDATE, but the shop has no such product"]
    assert warnings(report) == ["line 7, Command: is IGNORE; the row is left out"]
    assert report.unchanged[0].reason == "its Command is NEW, and the shop has it already"


@pytest.mark.parametrize("given", [{"Command": "DELETE"}, {"Command": "REPLACE"}, {"Variant Command": "DELETE"}])
def test_a_file_that_deletes_is_refused_as_a_whole(shop, tmp_path, given):
    make_product(shop, "Cup", slug="cup")
    with pytest.raises(UnreadableFile, match=r"Line 3 has .*Nothing was imported"):
        imported(shop, [row("mug", "NEW"), row("cup", "MERGE") | given], tmp_path, update=True)
    assert list(prices(shop)) == ["cup"]


def test_a_command_that_is_not_known_is_refused_with_its_line(shop, tmp_path):
    report = imported(shop, [row("mug", "NEW"), row("cup", "MOVE")], tmp_path)
    assert errors(report) == ["line 3, Command: expected NEW, UPDATE, MERGE or IGNORE, found 'move'"]
    assert list(prices(shop)) == ["mug"]


def test_a_command_that_is_not_known_refuses_all_rows_of_its_product(shop, tmp_path):
    rows = [
        row("tee", "MERGE", **{"Variant SKU": f"T-{size}", "Option1 Name": "Size", "Option1 Value": size})
        for size in "SML"
    ]
    imported(shop, rows, tmp_path)
    given = [each | {"Variant Price": "20"} for each in rows]
    report = imported(shop, [given[0], given[1] | {"Command": "FOO"}, given[2]], tmp_path, update=True)
    assert errors(report) == ["line 3, Command: expected NEW, UPDATE, MERGE or IGNORE, found 'foo'"]
    tee = Product.objects.get(shop=shop)
    assert [str(each.price) for each in tee.variants.all()] == ["9.50"] * 3


def test_new_keeps_a_product_with_variants_that_a_row_without_options_names(shop, tmp_path):
    made = {"Variant SKU": "T-S", "Option1 Name": "Size", "Option1 Value": "S"}
    imported(shop, [row("tee", "MERGE", **made)], tmp_path)
    report = imported(shop, [row("tee", "NEW", price="20", **{"Variant SKU": "T-S"})], tmp_path, update=True)
    assert report.unchanged[0].reason == "its Command is NEW, and the shop has it already"
    assert str(Product.objects.get(shop=shop).variants.get().price) == "9.50"
