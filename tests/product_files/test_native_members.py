"""Each member of a native file: absent, it keeps what the product has; null and empty clear it or are refused."""

import json

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.native.members import RELATED, members
from storefront.product_files.parsed_products import NAMED
from tests.product_files.files import as_lines, errors, exported, imported

OF_ROWS = ["categories", "media", "options", "variants", "bundle_items", *RELATED.values()]
MEMBERS = sorted([*members(Product), *NAMED, *OF_ROWS, "type"])
MUG = {
    "name": "Mug", "slug": "mug", "sku": "M", "price": "9.00", "compare_price": "12.00", "cost_price": "2.00",
    "description": "Text", "short_description": "Text", "barcode": "0049", "tags": ["x"], "weight": "0.500",
    "attributes": [{"name": "Size", "values": ["M"]}], "translations": {"de": {"name": "Becher"}}, "stock_qty": 4,
    "brand": "Kiln", "vendor": "Mill", "shipping_origin": "Hamburg", "tax_class": "Reduced", "categories": ["Cups"],
    "media": ["https://p.example.com/1.jpg"], "options": [{"name": "Print", "values": [{"label": "Yes"}]}],
    "meta_title": "T", "meta_description": "D", "is_featured": True, "status": "active", "sort_order": 2,
    "canonical_url": "https://p.example.com/c", "length": "1.000", "legacy_source_id": 7, "up_sells": ["cup"],
    "cross_sells": ["cup"],
}  # fmt: skip


@pytest.fixture
def mug(shop, other_shop, tmp_path):
    for each in (other_shop, shop):
        cup = {"name": "Cup", "slug": "cup", "price": "1.00"}
        assert errors(imported(each, as_lines(cup, MUG), tmp_path)) == []
    return shop


def stored(shop) -> dict:
    return next(each for each in map(json.loads, exported(shop).splitlines()) if each["slug"] == "mug")


def can_be_null(member: str) -> bool:
    return member in NAMED or (member in members(Product) and Product._meta.get_field(member).null)


def test_the_table_has_every_member_of_an_export(mug):
    assert stored(mug).keys() - {"slug"} <= {*MEMBERS}


@pytest.mark.slow
@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_that_is_absent_keeps_its_value(mug, tmp_path, member):
    before = stored(mug)
    line = {name: value for name, value in before.items() if name != member}
    report = imported(mug, as_lines(line), tmp_path, update=True)
    assert (report.changes, report.skipped, stored(mug)) == ([], 1, before), report.problems


@pytest.mark.parametrize("member", MEMBERS)
def test_null_clears_what_can_be_null_and_is_refused_elsewhere(mug, other_shop, tmp_path, member):
    before, theirs = stored(mug), stored(other_shop)
    report = imported(mug, as_lines({"slug": "mug", member: None}), tmp_path, update=True)
    after = stored(mug)
    if can_be_null(member):
        assert (errors(report), after[member]) == ([], None)
        assert {name: value for name, value in before.items() if name != member} == {
            name: value for name, value in after.items() if name != member
        }
    else:
        assert errors(report)[0].startswith(f"line 1, {member}: expected")
        assert after == before
    assert stored(other_shop) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("member", MEMBERS)
def test_an_empty_text_or_list_clears_or_is_refused_by_name(mug, tmp_path, member):
    before = stored(mug)
    for empty in ("", []):
        report = imported(mug, as_lines({"slug": "mug", member: empty}), tmp_path, update=True)
        after = stored(mug)
        if errors(report):
            assert errors(report)[0].startswith(f"line 1, {member}: ")
        else:
            assert not after.get(member) or after == before
            assert {name for name in before if before[name] != after.get(name)} <= {member}
        before = after
