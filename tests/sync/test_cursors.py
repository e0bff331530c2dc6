"""Cursors and deletions. Races are in test_mirror.py."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection

from storefront.catalogue import actions
from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer, CustomerGroup
from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.payments.models import Payment
from storefront.shops.models import Shop
from storefront.sync import log
from storefront.sync.cursors import decode
from storefront.sync.models import Change
from tests.catalogue.factories import make_category, make_public, make_variant
from tests.client import ApiClient
from tests.customers.factories import add_address
from tests.orders.factories import make_order, sale_line
from tests.server.edges import EdgeClient
from tests.shops.factories import NOW, make_token
from tests.sync.copying import Copy
from tests.sync.lists import DAY, KINDS, Place, pages

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.rule("R-SYNC-1", "R-SYNC-2", "R-SYNC-3", "R-SYNC-4")
def test_a_run_shows_every_record_once_and_ends(place):
    copy, shown = Copy(*place, per_page=2), []
    while body := copy.step():
        assert list(body) == [place.name, "deleted", "next"]
        assert len(copy.after) <= 400
        if not body[place.name]:
            break
        shown += [record["id"] for record in body[place.name]]
    assert len(shown) == len(set(shown))
    assert copy.records == {record["id"]: record for record in pages(place)}
    assert copy.step()[place.name] == []


@pytest.mark.rule("R-SYNC-1")
def test_it_needs_the_scope_of_the_list(shop, cast):
    for kind in KINDS:
        token = make_token(shop, *[f"read_{other}" for other in KINDS if other != kind])
        assert ApiClient(token).get(f"/{kind}?after=").status_code == 403


@pytest.mark.rule("R-SYNC-3")
def test_other_cursors_are_refused_by_name(place, other_shop):
    begun = place.api.get(f"{place.path}?after=").json()["next"]
    other_kind = "orders" if place.path != "/orders" else "customers"
    elsewhere = ApiClient(make_token(other_shop, f"read{place.path.replace('/', '_')}"))
    other_list = ApiClient(make_token(other_shop, f"read_{other_kind}")).get(f"/{other_kind}?after=").json()["next"]
    wrong = [begun[:-1] + ("a" if begun[-1] != "a" else "b"), begun.partition(".")[0], "x", other_list]
    wrong.append(elsewhere.get(f"{place.path}?after=").json()["next"])
    for after in (*wrong, "a" * 401, "a%00b"):
        answer = place.api.get(f"{place.path}?after={after}")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")
        assert list(answer.json()["errors"]) == ["after"]


@pytest.mark.rule("R-SYNC-10")
def test_other_parameters_are_refused_by_name(place):
    others = {"page": "2", "ids": "p1" if "inventory" in place.path else "1", "updated_since": "2026-11-21T00:00:00Z"}
    others |= {"/orders": {"status": "open"}, "/customers": {"email": "a@example.com"}}.get(place.path, {})
    for name, value in others.items():
        answer = place.api.get(f"{place.path}?after=&{name}={value}")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [name])
    assert place.api.get(f"{place.path}?after=&per_page=1&fields=id&other=1").status_code == 200


@pytest.mark.rule("R-SYNC-9")
def test_a_cursor_ends_after_thirty_days_or_with_its_generation(place, shop, other_shop):
    after = Copy(*place).follow().after
    log.begin_generation(shop=other_shop)
    now = clock.now()
    with time_machine.travel(now + 29 * DAY, tick=False):
        assert place.api.get(f"{place.path}?after={after}").status_code == 200
    with time_machine.travel(now + 31 * DAY, tick=False):
        assert_expired(place, after)
    log.begin_generation(shop=shop)
    assert_expired(place, after)


@pytest.mark.rule("R-SYNC-9")
def test_a_cursor_of_a_log_that_was_longer_has_ended(shop, products):
    """As after a backup was restored. (On PostgreSQL, the log's positions are transactions; on SQLite, changes.)"""
    ahead = moved(shop, products.after, by=10**6)
    assert_expired(Place(products.api, "/products", "data"), ahead)


@pytest.mark.rule("R-SYNC-2", "R-SYNC-9")
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has one writer at a time")
def test_a_cursor_stays_where_it_is_while_the_log_is_complete_to_an_earlier_position(shop, products):
    """PostgreSQL does not always tell that a running transaction belongs to another database."""
    other = connection.copy()
    with other.cursor() as running:
        running.execute("BEGIN; SELECT pg_current_xact_id()")
    try:
        shop.products.filter(name="Mug 1").update(sku="before")
        shop.products.filter(name="Mug 1").update(sku="after")
        products.follow()
        products.after = moved(shop, products.after, by=1)
        assert ids_of(products.step()) == ([], [])
    finally:
        other.close()
    assert ids_of(products.step()) == (["Mug 1"], [])


def moved(shop: Shop, after: str, by: int) -> str:
    """The cursor of the list of products so many positions later."""
    cursor = decode(after, shop, "products", now=clock.now())
    position = {"xact": cursor.xact + by} if connection.vendor == "postgresql" else {"change": cursor.change + by}
    return replace(cursor, **position).encode(shop, "products")


@pytest.mark.rule("R-SYNC-9")
def test_an_answer_from_the_middle_does_not_renew_the_cursor(shop, products):
    """Its position is as old as before, and changes after it are deleted at their time."""
    now = clock.now()
    products.parameters["per_page"] = 1
    shop.products.update(sku="S")
    with time_machine.travel(now + 29 * DAY, tick=False):
        assert len(products.step()["data"]) == 1
        middle = products.after
        products.follow()
    with time_machine.travel(now + 31 * DAY, tick=False):
        assert_expired(Place(products.api, "/products", "data"), middle)
        assert products.step()["data"] == []


def assert_expired(place: Place, after: str) -> None:
    answer = place.api.get(f"{place.path}?after={after}")
    assert (answer.status_code, answer.json()["code"]) == (422, "cursor_expired")
    assert list(answer.json()["errors"]) == ["after"]


@pytest.mark.rule("R-SYNC-9")
def test_changes_are_deleted_when_no_cursor_needs_them(shop, cast):
    before = Change.objects.count()
    Change.objects.update(at=clock.now() - 30 * DAY)
    assert log.delete_old_changes(now=clock.now(), limit=1000) == 0
    Change.objects.update(at=clock.now() - 32 * DAY)
    assert log.delete_old_changes(now=clock.now(), limit=1000) == before
    assert not Change.objects.exists()


@pytest.fixture
def products(shop, cast) -> Copy:
    return Copy(ApiClient(make_token(shop, "read_products")), "/products", include="variants,categories").follow()


def ids_of(body: dict) -> tuple[list[str], list[int]]:
    return [record["name"] for record in body["data"]], [each["id"] for each in body["deleted"]]


@pytest.mark.rule("R-SYNC-6")
def test_what_a_list_no_longer_has_is_deleted(shop, products):
    now, mugs = clock.now(), list(shop.products.filter(name__startswith="Mug").order_by("pk"))
    actions.set_status(shop=shop, products=shop.products.filter(pk=mugs[0].pk), status="archived", now=now)
    actions.delete_product(shop=shop, product=mugs[1], now=now)
    actions.update_product(shop=shop, product=mugs[2], exclude_from_catalog=True, now=now)
    body = products.step()
    assert ids_of(body) == ([], [mug.pk for mug in mugs])
    assert all(list(each) == ["id", "at"] for each in body["deleted"])
    actions.set_status(shop=shop, products=shop.products.filter(pk=mugs[0].pk), status="active", now=now)
    actions.restore_product(shop=shop, product=mugs[1], now=now)
    assert ids_of(products.step()) == (["Mug 0"], [mugs[1].pk])


@pytest.mark.rule("R-SYNC-6")
def test_dates_show_and_hide_products_without_a_write(shop, products):
    now = clock.now()
    soon, later = now + DAY, now + 2 * DAY
    mug = shop.products.get(name="Mug 0")
    actions.update_product(shop=shop, product=mug, unpublish_at=later, now=now)
    timed = actions.create_product(shop=shop, name="Timed", status="active", publish_at=soon, now=now)
    assert ids_of(products.step()) == (["Mug 0"], [])
    assert ids_of(products.step()) == ([], [])
    with time_machine.travel(soon, tick=False):
        assert ids_of(products.step()) == (["Timed"], [])
        assert ids_of(products.step()) == ([], [])
    with time_machine.travel(later + DAY, tick=False):
        assert ids_of(products.step()) == ([], [mug.pk])
        assert ids_of(products.step()) == ([], [])
    # A machine whose clock is behind.
    actions.update_product(shop=shop, product=timed, sku="T", now=now)
    with time_machine.travel(now, tick=False):
        assert ids_of(products.step()) == (["Timed"], [])


@pytest.mark.rule("R-SYNC-6")
def test_stock_items_come_and_go_with_variants(shop, cast):
    copy = Copy(ApiClient(make_token(shop, "read_inventory")), "/inventory").follow()
    mug, shirt = shop.products.get(name="Mug 0"), shop.products.get(name="Shirt")
    blue = shirt.variants.get()
    red = make_variant(mug, "Red")
    body = copy.step()
    assert ([each["id"] for each in body["data"]], body["deleted"][0]["id"]) == ([f"p{mug.pk}-v{red.pk}"], f"p{mug.pk}")
    blue.delete()
    assert copy.follow().records.keys() >= {f"p{shirt.pk}"}
    assert f"p{shirt.pk}-v{blue.pk}" not in copy.records
    actions.delete_product(shop=shop, product=mug, now=clock.now())
    assert f"p{mug.pk}-v{red.pk}" not in copy.follow().records


@pytest.mark.rule("R-SYNC-7")
def test_a_product_that_was_never_public_is_told_to_nobody(shop, products):
    now = clock.now()
    draft = actions.create_product(shop=shop, name="Draft", now=now)
    actions.update_product(shop=shop, product=draft, name="Secret", now=now)
    actions.create_product(shop=shop, name="Planned", status="active", publish_at=now + DAY, now=now)
    actions.delete_product(shop=shop, product=draft, now=now)
    assert ids_of(products.step()) == ([], [])
    since = products.api.get(f"/products?updated_since={timestamp(now - DAY)}").json()
    assert since["deleted"] == []


@pytest.mark.slow
@pytest.mark.rule("R-SYNC-8")
def test_what_counts_as_a_change(shop, cast):
    """Of each kind; and nothing else is told."""
    token = make_token(shop, *(f"read_{kind}" for kind in KINDS))
    products = Copy(ApiClient(token), "/products", include="variants,categories,options")
    orders = Copy(ApiClient(token), "/orders", include="payments,fulfilments,refunds")
    customers = Copy(ApiClient(token), "/customers", include="addresses")
    group = CustomerGroup.objects.create(shop=shop, name="Trade")
    Customer.objects.filter(shop=shop, email="ada0@example.com").update(group=group)
    for copy in (products, orders, customers):
        copy.follow()
    now, mug, order = clock.now(), shop.products.get(name="Mug 0"), Order.objects.filter(shop=shop).earliest("pk")
    cups = make_category(shop, "Cups")

    def told() -> tuple[int, int, int]:
        return tuple(len(copy.step()["data"]) for copy in (products, orders, customers))

    assert told() == (0, 0, 0)
    actions.update_product(shop=shop, product=mug, categories=[cups], options=[{"name": "Size"}], now=now)
    assert told() == (1, 0, 0)
    shop.variants.update(stock_qty=3)
    assert told() == (1, 0, 0)
    actions.update_category(shop=shop, category=cups, name="Mugs", now=now)
    assert told() == (0, 0, 0)
    actions.delete_category(shop=shop, category=cups, now=now)
    assert told() == (1, 0, 0)
    mark_paid(shop=shop, order=order, now=now)
    assert told() == (0, 1, 1)
    Payment.objects.filter(order=order).update(reference="p_1")
    assert told() == (0, 1, 0)
    add_address(Customer.objects.get(shop=shop, email="ada1@example.com"))
    CustomerGroup.objects.filter(pk=group.pk).update(name="Resellers")
    assert told() == (0, 0, 2)
    make_order(shop, sale_line(mug))
    assert told() == (1, 1, 0)


@pytest.mark.rule("R-SYNC-11", "R-SYNC-12")
def test_pages_with_updated_since_have_what_was_deleted(shop, other_shop, place):
    since = clock.now() - timedelta(minutes=1)
    now, mugs = clock.now(), list(shop.products.filter(name__startswith="Mug").order_by("pk"))
    for mug in mugs:
        actions.delete_product(shop=shop, product=mug, now=now)
    Order.objects.filter(shop=shop).update(updated_at=now)
    kept = Customer.objects.filter(shop=shop).latest("pk")
    gone = list(Customer.objects.filter(shop=shop).exclude(pk=kept.pk).order_by("pk").values_list("pk", flat=True))
    Customer.objects.filter(pk__in=gone).delete()
    Customer.objects.filter(pk=kept.pk).update(updated_at=now)
    expected = {
        "/products": [mug.pk for mug in mugs],
        "/inventory": [f"p{mug.pk}" for mug in mugs] + [f"p{shop.products.get(name='Shirt').pk}"],
        "/orders": [],
        "/customers": gone,
    }[place.path]
    deleted, last, page = [], 1, 1
    while page <= last:
        body = place.api.get(f"{place.path}?updated_since={timestamp(since)}&per_page=1&page={page}").json()
        assert list(body)[-1] == "deleted"
        assert len(body["deleted"]) <= 1
        deleted += [each["id"] for each in body["deleted"]]
        last, page = body.get("pagination", body)["last_page"], page + 1
    assert deleted == expected
    old = place.api.get(f"{place.path}?updated_since={timestamp(clock.now() - 31 * DAY)}").json()
    assert old["deleted"] is None
    assert "deleted" not in place.api.get(place.path).json()


@pytest.mark.rule("R-SYNC-11")
def test_updated_since_keeps_what_was_changed_since(place, shop):
    now = clock.now().replace(microsecond=0)
    Product.objects.filter(shop=shop, name="Mug 0").update(updated_at=now)
    order = Order.objects.filter(shop=shop).latest("pk")
    Order.objects.filter(pk=order.pk).update(updated_at=now)
    Customer.objects.filter(pk=order.customer_id).update(updated_at=now)
    for moment, count in ((now, 1), (now + timedelta(seconds=1), 0)):
        assert len(pages(place, f"updated_since={timestamp(moment)}")) == count
    answer = place.api.get(f"{place.path}?updated_since=yesterday")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["updated_since"])


@pytest.mark.rule("R-SYNC-11")
def test_products_that_a_date_has_hidden_are_in_deleted(shop, api, cast):
    now = datetime.now(UTC)
    ended = make_public(shop, "Ended", publish_at=now - 2 * DAY, unpublish_at=now - DAY, updated_at=now - 3 * DAY)
    Change.objects.all().delete()
    for since, expected in ((now - 2 * DAY, [ended.pk]), (now - DAY / 2, [])):
        body = api.get(f"/products?updated_since={timestamp(since)}").json()
        assert [each["id"] for each in body["deleted"]] == expected


@pytest.mark.rule("R-SYNC-13")
def test_answers_to_after_are_never_cached(shop, cast):
    token, asked = make_token(shop, "read_products"), EdgeClient()
    for path in ("/products?fields=id,name", "/products?include=variants&per_page=2", "/products?ids=1,2"):
        assert not asked.is_hit(path, token)
        assert asked.is_hit(path, token)
        assert asked.ask(path, token).data == ApiClient(token).get(path).content
    # One product's answers are kept apart by their members.
    for path in ("/products/mug-0", "/products/mug-0?fields=id", "/products/mug-0?fields=id,name"):
        assert not asked.is_hit(path, token)
        assert asked.is_hit(path, token)
        assert asked.ask(path, token).data == ApiClient(token).get(path).content
    assert not asked.is_hit("/products?after=", token)
    assert not asked.is_hit("/products?after=", token)
    answer = asked.ask("/products?after=", token)
    assert (answer.headers["Cache-Control"], "ETag" in answer.headers) == ("no-store", False)


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite's triggers see one row at a time")
def test_variants_written_by_one_statement_are_one_change_of_each_product(shop, other_shop):
    products = [make_public(shop), make_public(shop), make_public(other_shop)]
    first = [make_variant(product) for product in products]
    Change.objects.all().delete()
    same = {"price": 5, "created_at": NOW, "updated_at": NOW}
    more = [(each.product, name) for each in first for name in ("Red", "Green", "White")]
    Variant.objects.bulk_create(
        Variant(shop=product.shop, product=product, name=name, **same) for product, name in more
    )
    found = Change.objects.order_by("object_id").values_list("shop_id", "kind", "object_id", "variant_id")
    assert list(found) == sorted((each.shop_id, "product", each.pk, None) for each in products)
