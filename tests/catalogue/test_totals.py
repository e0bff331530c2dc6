"""Totals are stored, not counted. After any write in any way, they equal a count."""

from datetime import timedelta
from itertools import count

import orjson
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import actions
from storefront.catalogue.models import Category, ListingTotal, Product, ProductCategory
from storefront.listing import queries
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_product
from tests.product_files.files import imported, woo
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.slow

HOUR = timedelta(hours=1)
MOMENTS = [NOW - 2 * HOUR, NOW - HOUR, NOW, NOW + HOUR, NOW + 2 * HOUR]
_numbers = count(1)


def counted(shop, now) -> dict:
    """The totals, counted row by row."""
    listed = [row for row in Product.objects.filter(shop=shop, exclude_from_catalog=False) if row.is_published(now)]
    links = ProductCategory.objects.filter(shop=shop, product__in=listed).values_list("category__slug", flat=True)
    found = dict.fromkeys(Category.objects.filter(shop=shop, is_active=True).values_list("slug", flat=True), 0)
    for slug in links:
        if slug in found:
            found[slug] += 1
    return {None: len(listed)} | found


def categories(shop, now) -> list[dict]:
    return list(orjson.loads(queries.categories_json(shop, now=now).json))


def stored(shop, now) -> dict:
    found = {record["slug"]: record["products_count"] for record in categories(shop, now)}
    for slug in found:
        assert orjson.loads(queries.category_json(shop, slug, now=now).json)["products_count"] == found[slug]
        listed = queries.product_page(shop, ProductFilters(category=slug), page=1, per_page=1, now=now)
        assert listed.total == found[slug]
    return {None: queries.product_page(shop, ProductFilters(), page=1, per_page=1, now=now).total} | found


def assert_correct(*shops) -> None:
    for shop in shops:
        for now in MOMENTS:
            assert stored(shop, now) == counted(shop, now)


def test_a_total_follows_a_product_through_its_life(shop, other_shop):
    cups, bowls = make_category(shop, "Cups"), make_category(shop, "Bowls")
    make_product(other_shop, categories=(make_category(other_shop, "Cups"),))
    product = actions.create_product(shop=shop, now=NOW, name="Mug", price="9.50", status="active", categories=[cups])
    assert stored(shop, NOW) == {None: 1, "cups": 1, "bowls": 0}
    actions.update_product(shop=shop, product=product, now=NOW, categories=[bowls])
    assert stored(shop, NOW) == {None: 1, "cups": 0, "bowls": 1}
    actions.set_status(shop=shop, products=Product.objects.filter(shop=shop), status="draft", now=NOW)
    assert stored(shop, NOW) == {None: 0, "cups": 0, "bowls": 0}
    actions.update_product(shop=shop, product=product, now=NOW, status="active", publish_at=NOW + HOUR)
    assert (stored(shop, NOW)[None], stored(shop, NOW + HOUR)[None]) == (0, 1)
    actions.update_product(shop=shop, product=product, now=NOW, unpublish_at=NOW + 2 * HOUR)
    assert (stored(shop, NOW + HOUR)["bowls"], stored(shop, NOW + 2 * HOUR)["bowls"]) == (1, 0)
    actions.delete_product(shop=shop, product=product, now=NOW)
    assert stored(shop, NOW + HOUR) == {None: 0, "cups": 0, "bowls": 0}
    assert_correct(shop, other_shop)


def test_a_restored_product_is_counted_again(shop):
    product = make_product(shop, categories=(make_category(shop),))
    actions.delete_product(shop=shop, product=product, now=NOW)
    actions.restore_product(shop=shop, product=product, now=NOW)
    actions.set_status(shop=shop, products=Product.objects.filter(shop=shop), status="active", now=NOW)
    assert stored(shop, NOW) == {None: 1, "cups": 1}


def test_imported_products_are_counted(shop, tmp_path):
    rows = [
        woo(id=str(n), sku=f"S{n}", name=f"Cup {n}", published="-1" if n % 3 == 0 else "1", categories="Cups, Gifts")
        for n in range(30)
    ]
    assert imported(shop, rows, tmp_path).created == 30
    assert stored(shop, NOW) == {None: 20, "cups": 20, "gifts": 20}
    rows[1:3] = [woo(id=str(n), sku=f"S{n}", published="-1", categories="Gifts") for n in (1, 2)]
    assert imported(shop, rows, tmp_path, update=True).updated == 2
    assert stored(shop, NOW) == {None: 18, "cups": 18, "gifts": 18}
    assert_correct(shop)


def test_rows_deleted_without_actions_are_not_counted(shop):
    make_product(shop, categories=(make_category(shop),))
    Category.objects.filter(shop=shop).delete()
    assert stored(shop, NOW) == {None: 1}
    Product.objects.filter(shop=shop).delete()
    assert stored(shop, NOW) == {None: 0}


def test_a_sale_writes_no_total(shop):
    product = make_product(shop, categories=(make_category(shop),))
    before = list(ListingTotal.objects.order_by("pk").values())
    Product.objects.filter(pk=product.pk).update(stock_qty=3, updated_at=NOW + HOUR)
    product.save()
    assert list(ListingTotal.objects.order_by("pk").values()) == before


def test_totals_are_read_without_counting_products(shop, django_assert_num_queries):
    cups = make_category(shop)
    for _ in range(5):
        make_product(shop, categories=(cups,))
    # A wrong total, which only a read of the stored total returns.
    ListingTotal.objects.filter(shop=shop, category=cups.pk).update(products=77)
    with django_assert_num_queries(1):
        assert [record["products_count"] for record in categories(shop, NOW)] == [77]
    with django_assert_num_queries(2):
        assert queries.product_page(shop, ProductFilters(category="cups"), page=1, per_page=2, now=NOW).total == 77


@pytest.mark.parametrize("filters", [{}, {"category": "cups"}, {"q": "mug"}, {"q": "m"}, {"featured": True}])
def test_a_list_takes_at_most_two_queries(shop, django_assert_max_num_queries, filters):
    cups = make_category(shop)
    for _ in range(5):
        make_product(shop, f"Mug {next(_numbers)}", categories=(cups,), is_featured=True)
    for page in (1, 2, 3, 1):
        with django_assert_max_num_queries(2):
            found = queries.product_page(shop, ProductFilters(**filters), page=page, per_page=2, now=NOW)
            assert found.total == 5


STATUS = st.sampled_from(["draft", "active", "active", "archived"])
DATE = st.sampled_from([None, None, *MOMENTS])
DATES = st.tuples(DATE, DATE).filter(lambda dates: None in dates or dates[0] < dates[1])
WHICH = st.integers(0, 7)
STEPS = st.one_of(
    st.tuples(st.just("create"), STATUS, DATES, st.sets(st.integers(0, 2))),
    st.tuples(st.just("status"), WHICH, STATUS),
    st.tuples(st.just("status_of_all"), STATUS),
    st.tuples(st.just("dates"), WHICH, DATES),
    st.tuples(st.just("move"), WHICH, st.sets(st.integers(0, 2))),
    st.tuples(st.just("delete"), WHICH),
    st.tuples(st.just("restore"), WHICH),
    st.tuples(st.just("exclude"), WHICH, st.booleans()),
    st.tuples(st.just("erase"), WHICH),
    st.tuples(st.just("relink"), WHICH, st.integers(0, 2)),
    st.tuples(st.just("erase_link"), WHICH),
    st.tuples(st.just("switch_category"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("bulk"), st.integers(1, 4), STATUS),
    st.tuples(st.just("sql"), STATUS),
)


def run_step(step, shop, categories) -> None:
    kind, *given = step
    products = list(Product.objects.filter(shop=shop).order_by("pk"))
    if kind == "create":
        status, (start, end), within = given
        actions.create_product(
            shop=shop,
            now=NOW,
            name=f"Mug {next(_numbers)}",
            price="1.00",
            status=status,
            publish_at=start,
            unpublish_at=end,
            categories=[categories[at] for at in within],
        )
    elif kind == "bulk":
        number, status = given
        made = [Product(shop=shop, name="B", slug=f"b-{next(_numbers)}", price=1, status=status) for _ in range(number)]
        for product in made:
            product.created_at = product.updated_at = NOW
        Product.objects.bulk_create(made)
        ProductCategory.objects.bulk_create(
            ProductCategory(shop=shop, product=product, category=categories[0], created_at=NOW, updated_at=NOW)
            for product in made
        )
    elif kind == "status_of_all":
        actions.set_status(shop=shop, products=Product.objects.filter(shop=shop), status=given[0], now=NOW)
    elif kind == "sql":
        with connection.cursor() as cursor:
            cursor.execute("UPDATE catalogue_product SET status = %s WHERE shop_id = %s", [given[0], shop.pk])
    elif kind == "switch_category":
        Category.objects.filter(pk=categories[given[0]].pk).update(is_active=given[1])
    elif products:
        run_product_step(kind, given[1:], shop, categories, products[given[0] % len(products)])


def run_product_step(kind, given, shop, categories, product) -> None:
    rows, links = Product.objects.filter(pk=product.pk), ProductCategory.objects.filter(product=product)
    exists = product.deleted_at is None
    if kind == "status" and exists:
        actions.update_product(shop=shop, product=product, now=NOW, status=given[0])
    elif kind == "dates":
        rows.update(publish_at=given[0][0], unpublish_at=given[0][1])
    elif kind == "move" and exists:
        actions.update_product(shop=shop, product=product, now=NOW, categories=[categories[at] for at in given[0]])
    elif kind == "delete" and exists:
        actions.delete_product(shop=shop, product=product, now=NOW)
    elif kind == "restore" and not exists:
        actions.restore_product(shop=shop, product=product, now=NOW)
    elif kind == "exclude":
        product.exclude_from_catalog = given[0]
        product.save()
    elif kind == "erase":
        rows.delete()
    elif kind == "relink" and not links.filter(category=categories[given[0]]).exists():
        links.filter(pk__in=links.values("pk")[:1]).update(category=categories[given[0]])
    elif kind == "erase_link":
        links.delete()


@pytest.mark.django_db
@given(steps=st.lists(STEPS, min_size=4, max_size=16))
def test_totals_equal_a_count_after_any_writes(steps):
    shop, other = make_shop(f"{next(_numbers)}.example.com"), make_shop(f"{next(_numbers)}.example.com")
    categories = [make_category(shop, name) for name in ("Cups", "Bowls", "Lamps")]
    make_product(other, categories=(make_category(other, "Cups"),))
    for step in steps:
        run_step(step, shop, categories)
    assert_correct(shop, other)
