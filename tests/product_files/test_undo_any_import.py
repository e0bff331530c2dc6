"""Whatever a file changes in a shop: undone, the shop's export is as it was, and nothing is inconsistent."""

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import actions
from storefront.catalogue.models import Brand, Category, Product
from storefront.kit.deviations import Deviation
from storefront.product_files import read_ahead
from storefront.product_files.import_run import ImportRun
from storefront.product_files.models import ImportedChange, ProductImport
from storefront.product_files.undoing import NotUndoable
from storefront.server.verifying import deviations
from storefront.shops.models import Shop
from tests.product_files.files import as_lines, exported, imported
from tests.product_files.undo import import_kept, kept_import, undo
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

_numbers = count(1)
NAMES = [f"Mug {number}" for number in range(5)]
texts = st.sampled_from(["", "Blue", "Größe", "<b>Clay</b>"])
prices = st.sampled_from(["0.00", "4.00", "9.50", "12.00"])
stocks = st.sampled_from([0, 3, 7])


def fields(draw: Any, **strategies: Any) -> dict[str, Any]:
    """Some of these members, as a file can leave members out."""
    return {name: draw(values) for name, values in strategies.items() if draw(st.booleans())}


@st.composite
def products(draw: Any, name: str) -> dict[str, Any]:
    row = {"name": name, "slug": name.lower().replace(" ", "-"), "price": draw(prices)}
    row |= fields(
        draw,
        description=texts,
        sku=st.sampled_from(["", f"S-{name}"]),
        status=st.sampled_from(["active", "draft", "archived"]),
        stock_qty=stocks,
        compare_price=prices,
        tags=st.lists(st.sampled_from(["new", "old"]), unique=True),
        brand=st.sampled_from(["Kiln", "Acme", None]),
        vendor=st.sampled_from(["Oven", None]),
        weight=st.sampled_from(["0.500", "2.000"]),
        categories=st.lists(st.sampled_from(["Kitchen", "Kitchen > Cups", "Gifts"]), unique=True),
        media=st.lists(st.sampled_from("abc"), unique=True).map(_media),
        up_sells=st.lists(st.sampled_from([f"mug-{number}" for number in range(5)]), unique=True, max_size=2),
        options=st.lists(st.sampled_from(["Engraving", "Box"]), unique=True).map(_options),
        noindex=st.booleans(),
    )
    if draw(st.booleans()):
        row["variants"] = [
            {"name": colour, "option_values": {"Colour": colour}, "price": draw(prices), "stock_qty": draw(stocks)}
            for colour in draw(st.lists(st.sampled_from(["Red", "Blue", "Green"]), unique=True, min_size=1))
        ]
    return row


def _media(names: list[str]) -> list[dict[str, str]]:
    return [{"url": f"https://pictures.example.com/{name}.png", "alt": name} for name in names]


def _options(names: list[str]) -> list[dict[str, Any]]:
    return [{"name": each, "type": "select", "values": [{"label": "Gold", "price": "5.00"}]} for each in names]


@st.composite
def files(draw: Any) -> list[dict[str, Any]]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return [draw(products(name)) for name in names]


def state(shop: Shop) -> tuple[str, list[str], list[str]]:
    """What an undone import leaves as it was: the products, the categories and the brands."""
    categories = Category.objects.filter(shop=shop).order_by("lft").values_list("slug", flat=True)
    brands = Brand.objects.filter(shop=shop).order_by("name").values_list("name", flat=True)
    return exported(shop), list(categories), list(brands)


def inconsistent(shop: Shop) -> list[Deviation]:
    """What does not agree, but for list prices: a file can state one that differs from those of its variants."""
    return [each for each in deviations(shop) if each.check != "list price"]


@pytest.mark.slow
@given(files(), files(), st.integers(1, 3))
def test_undone_it_is_as_before(db, tmp_path_factory, first, second, batch):
    shop, other_shop = make_shop(f"{next(_numbers)}.example.com"), make_shop(f"{next(_numbers)}.example.com")
    path = tmp_path_factory.mktemp("undo")
    for each in (shop, other_shop):
        imported(each, as_lines(*first), path)
    before, others, found = state(shop), state(other_shop), inconsistent(shop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_ahead, "BATCH_PRODUCTS", batch)
        row, report = import_kept(shop, as_lines(*second), path)
    assert (
        report.created + report.updated
        == ImportedChange.objects.filter(product_import=row, kind__in=["created", "updated", "related"])
        .values("object_id")
        .distinct()
        .count()
    )
    if report.created or report.updated:
        assert undo(shop, row).left == 0
    assert (state(shop), state(other_shop)) == (before, others)
    assert inconsistent(shop) == found


FIRST = [{"name": name, "slug": name.lower().replace(" ", "-"), "price": "9.50", "stock_qty": 5} for name in NAMES]
SECOND = [{**each, "price": "12.00", "stock_qty": 7, "categories": ["Cups"], "brand": "Kiln"} for each in FIRST]
SECOND.append({"name": "Jug", "price": "1.00"})


@pytest.mark.django_db
def test_an_import_that_was_cut_off_is_undone(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 2)
    imported(shop, as_lines(*FIRST), tmp_path)
    before, row = state(shop), kept_import(shop)
    count = ImportRun._count

    def cut_off(run, outcome):
        count(run, outcome)
        if run.report.updated == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(ImportRun, "_count", cut_off)
    with pytest.raises(KeyboardInterrupt):
        imported(shop, as_lines(*SECOND), tmp_path, update=True, product_import=row)
    assert Product.objects.filter(price=12).count() == 4
    ProductImport.objects.filter(pk=row.pk).update(state="failed", finished_at=NOW)
    assert undo(shop, row).left == 0
    assert state(shop) == before


@pytest.mark.django_db
def test_an_import_that_ran_twice_is_undone_to_the_state_before_the_first(shop, tmp_path):
    """The worker runs an interrupted import again; meanwhile somebody changed a product back."""
    imported(shop, as_lines(*FIRST), tmp_path)
    before, row = state(shop), kept_import(shop)
    imported(shop, as_lines(*SECOND), tmp_path, update=True, product_import=row)
    imported(shop, as_lines({**FIRST[0], "price": "13.00"}), tmp_path, update=True, product_import=row)
    assert ImportedChange.objects.filter(kind="updated").count() == 6
    ProductImport.objects.filter(pk=row.pk).update(state="done", finished_at=NOW)
    assert undo(shop, row).left == 0
    assert state(shop) == before


@pytest.mark.django_db
def test_an_undoing_that_was_cut_off_goes_on(shop, tmp_path, monkeypatch):
    monkeypatch.setattr("storefront.product_files.undo_batches.BATCH_PRODUCTS", 2)
    imported(shop, as_lines(*FIRST), tmp_path)
    before = state(shop)
    row, _ = import_kept(shop, as_lines(*SECOND), tmp_path)

    def cut_off(looked_at: int) -> None:
        if looked_at == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        undo(shop, row, progress=cut_off)
    row.refresh_from_db()
    assert (row.state, Product.objects.filter(price=12).count()) == ("undoing", 1)
    result = undo(shop, row)
    # Six products, a category and a brand.
    assert (result.counts(), state(shop)) == ({"undone": 8, "left": 0}, before)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_undoings_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("storefront.product_files.undo_batches.BATCH_PRODUCTS", 1)
    shop = make_shop()
    imported(shop, as_lines(*FIRST), tmp_path)
    before = state(shop)
    row, _ = import_kept(shop, as_lines(*SECOND), tmp_path)

    def run() -> dict[str, int]:
        own = Shop.objects.get(pk=shop.pk)
        return undo(own, ProductImport.objects.get(pk=row.pk)).counts()

    # One that begins when the other has ended is refused.
    results = run_concurrently(run, run, refusal=NotUndoable)
    assert {"undone": 8, "left": 0} in results
    assert state(shop) == before
    assert list(deviations(shop)) == []
    assert ImportedChange.objects.filter(outcome="undone").count() == 8


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_undoing_and_a_change_at_once(tmp_path):
    """The change is not lost: it comes first, and the product stays, or it comes last."""
    shop = make_shop()
    imported(shop, as_lines(*FIRST), tmp_path)
    row, _ = import_kept(shop, as_lines(*SECOND), tmp_path)
    mug = Product.objects.get(slug="mug-3")

    def change() -> None:
        actions.update_product(shop=Shop.objects.get(pk=shop.pk), product=mug, now=NOW, stock_qty=99)

    def run() -> dict[str, int]:
        return undo(Shop.objects.get(pk=shop.pk), ProductImport.objects.get(pk=row.pk)).counts()

    run_concurrently(run, change)
    mug.refresh_from_db()
    assert (mug.stock_qty, mug.price) in [(99, 12), (99, 9.5)]
    assert list(deviations(shop)) == []
