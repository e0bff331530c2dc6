"""An update that would change too much of a shop stops before anything is written, until its rule is accepted."""

import json
from decimal import Decimal

import pytest
from django.core.management import call_command

from storefront.catalogue.models import Product
from storefront.product_files.gate import Gate, ImpactRefused
from storefront.product_files.models import ImportedChange, ImportSource, ProductImport
from storefront.server.command import Failed
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product, make_variant
from tests.product_files.files import as_lines, exported, imported


def mugs(shop, count: int) -> list[Product]:
    return [make_product(shop, f"Mug {number}") for number in range(count)]


def changed(numbers: range, **values) -> str:
    return as_lines(*({"slug": f"mug-{number}", "name": f"Mug {number}", **values} for number in numbers))


def refused(shop, content: str, path, **given) -> ImpactRefused:
    before, entries = exported(shop), AuditEntry.objects.count()
    with pytest.raises(ImpactRefused) as refusal:
        imported(shop, content, path, update=True, **{"gate": Gate()} | given)
    assert exported(shop) == before
    assert not ImportSource.objects.exists()
    assert AuditEntry.objects.count() == entries
    return refusal.value


def test_a_price_to_zero_stops_everything(shop, other_shop, tmp_path):
    mugs(shop, 10)
    mugs(other_shop, 10)
    content = changed(range(1), price="0.00") + changed(range(1, 2), price="9.00")
    refusal = refused(shop, content, tmp_path)
    assert "1 price would be set to 0.00" in refusal.text
    assert "--accept zero-price" in refusal.text
    assert [trip.rule for trip in refusal.trips] == ["zero-price"]
    imported(shop, content, tmp_path, update=True, gate=Gate({"zero-price"}))
    assert Product.objects.get(shop=shop, slug="mug-0").price == 0
    assert not Product.objects.filter(shop=other_shop, price=0).exists()


def test_hiding_a_fifth_of_the_shop(shop, tmp_path):
    mugs(shop, 20)
    imported(shop, changed(range(3), status="draft"), tmp_path, update=True, gate=Gate())
    Product.objects.update(status="active")
    refusal = refused(shop, changed(range(4), status="draft"), tmp_path)
    assert "4 of the shop's 20 active products would be hidden, which is 20%; the bound is 20%" in refusal.text
    imported(shop, changed(range(4), status="draft"), tmp_path, update=True, gate=Gate(max_hidden=Decimal(21)))
    assert Product.objects.filter(status="draft").count() == 4


def test_variants_that_stop_selling_count_as_hidden(shop, tmp_path):
    mug, *_ = mugs(shop, 10)
    for colour in ("Red", "Blue", "Green", "White"):
        make_variant(mug, colour)
    one = {"name": "Red", "option_values": {"Colour": "Red"}, "price": "12.00"}
    refusal = refused(shop, as_lines({"slug": mug.slug, "name": mug.name, "variants": [one]}), tmp_path)
    assert "3 of the shop's 4 active variants would stop selling" in refusal.text


def test_repricing_a_fifth_by_more_than_half(shop, tmp_path):
    mugs(shop, 15)
    imported(shop, changed(range(15), price="14.25"), tmp_path, update=True, gate=Gate())
    Product.objects.update(price=Decimal("9.50"))
    refusal = refused(shop, changed(range(3), price="14.26"), tmp_path)
    assert "3 of the shop's 15 active products would be repriced by more than half" in refusal.text
    assert "--accept repriced" in refusal.text
    refused(shop, changed(range(3), price="4.74"), tmp_path, gate=Gate({"hidden", "zero-price"}))
    imported(shop, changed(range(3), price="4.74"), tmp_path, update=True, gate=Gate({"repriced"}))


@pytest.mark.parametrize(("products", "hidden", "stops"), [(1, 1, False), (3, 2, False), (3, 3, True)])
def test_small_shops(shop, tmp_path, products, hidden, stops):
    """Fewer than three products stop nothing."""
    mugs(shop, products)
    if stops:
        refused(shop, changed(range(hidden), status="draft"), tmp_path)
    else:
        imported(shop, changed(range(hidden), status="draft"), tmp_path, update=True, gate=Gate())


def test_the_price_of_a_product_with_variants_is_not_counted(shop, tmp_path):
    mug = make_product(shop, "Mug 0")
    make_variant(mug, "Red", price="9.50")
    report = imported(shop, changed(range(1), price="0.00"), tmp_path, update=True, dry_run=True)
    assert report.impact.counts["prices_to_zero"] == 0


def test_everything_is_counted_and_the_largest_come_first(shop, tmp_path):
    mug, pot, *_ = (make_product(shop, name) for name in ("Mug", "Pot", "Jug", "Cup"))
    make_variant(pot, "Red", price="9.50", compare_price="12.00")
    mug.media.create(shop=shop, source_url="https://pictures.example.com/mug.png")
    variant = {"name": "Red", "option_values": {"Colour": "Red"}, "price": "12.00", "compare_price": "0.00"}
    content = as_lines(
        {"slug": "mug", "name": "Mug", "price": "9.00", "media": []},
        {"slug": "jug", "name": "Jug", "price": "5.00", "compare_price": "9.50", "status": "draft"},
        {"slug": "cup", "name": "Cup", "price": "28.50"},
        {"slug": "pot", "name": "Pot", "variants": [variant]},
        {"slug": "new", "name": "New", "price": "1.00"},
    )
    impact = imported(shop, content, tmp_path, update=True, dry_run=True).impact.as_dict()
    largest = impact.pop("largest")
    assert impact == {
        "created": 1,
        "updated": 4,
        "prices_up": 2,
        "prices_down": 2,
        "prices_to_zero": 0,
        "put_on_sale": 1,
        "sales_ended": 1,
        "variants_off": 0,
        "drafts": 1,
        "hidden": 1,
        "repriced": 1,
        "pictures_dropped": 1,
    }
    assert [(each["slug"], each["what"], each["of"], each["before"], each["after"]) for each in largest] == [
        ("jug", "hidden", "", "active", "draft"),
        ("cup", "price", "", "9.50", "28.50"),
        ("pot", "price", "Red", "9.50", "12.00"),
        ("mug", "price", "", "9.50", "9.00"),
    ]


def test_the_largest_changes_are_twenty(shop, tmp_path):
    mugs(shop, 25)
    content = "".join(changed(range(number, number + 1), price=f"{10 + number}.00") for number in range(25))
    largest = imported(shop, content, tmp_path, update=True, dry_run=True).impact.largest
    assert [each["slug"] for each in largest] == [f"mug-{number}" for number in range(24, 4, -1)]


def test_the_command_stops_and_leaves_nothing(shop, tmp_path, capsys):
    mugs(shop, 10)
    file = tmp_path / "mugs.jsonl"
    file.write_text(changed(range(5), price="0.00"))
    with pytest.raises(Failed, match=r"5 prices would be set to 0\.00.* 5 of .*--accept zero-price --accept repriced"):
        call_command("importproducts", str(file), shop=shop.domain, update=True)
    assert not ProductImport.objects.exists()
    assert not Product.objects.filter(price=0).exists()
    with pytest.raises(Failed, match="--accept repriced"):
        call_command("importproducts", str(file), shop=shop.domain, update=True, accept=["zero-price"])
    accept = ["zero-price", "repriced"]
    call_command("importproducts", str(file), shop=shop.domain, update=True, accept=accept)
    assert Product.objects.filter(price=0).count() == 5
    row = ProductImport.objects.get()
    assert (row.state, row.updated, row.percent, row.file_name) == ("done", 5, 100, "mugs.jsonl")
    assert ImportedChange.objects.filter(product_import=row).count() == 5


def test_a_dry_run_shows_counts_rules_and_largest_changes(shop, tmp_path, capsys):
    mugs(shop, 4)
    file = tmp_path / "mugs.jsonl"
    file.write_text(changed(range(1), price="0.00"))
    call_command("importproducts", str(file), shop=shop.domain, update=True, dry_run=True)
    shown = capsys.readouterr()
    assert json.loads(shown.out.splitlines()[-1])["updated"] == 1
    assert shown.err.splitlines() == [
        "        1 products changed",
        "        1 prices down",
        "        1 prices to 0.00",
        "        1 products repriced by more than half",
        "Largest changes:",
        "  line 1, Mug 0: price 9.50 to 0.00",
        "1 price would be set to 0.00 (rule zero-price). To import it, add --accept zero-price.",
    ]
    assert not ProductImport.objects.exists()


def test_an_update_writes_only_what_differs(shop, tmp_path):
    mugs(shop, 6)
    report = imported(shop, changed(range(6), price="9.50") + changed(range(6, 7), price="1.00"), tmp_path, update=True)
    assert report.counts() == {"created": 1, "updated": 0, "skipped": 6, "failed": 0, "conflicts": 0}
    report = imported(shop, changed(range(2), price="9.00") + changed(range(2, 6), price="9.50"), tmp_path, update=True)
    assert report.counts() == {"created": 0, "updated": 2, "skipped": 4, "failed": 0, "conflicts": 0}
    assert [each["line"] for each in report.changes] == [1, 2]
