"""Sale periods: the regular price before the begin and after the end, the sale price between, everywhere."""

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine

from storefront.carts import actions as carts
from storefront.catalogue import actions
from storefront.catalogue.dated.past_prices import lowest_before
from storefront.catalogue.dated.turning import turn_due
from storefront.catalogue.models import PastPrice, Product, Variant
from storefront.kit.refusals import InvalidFields
from storefront.shops import changes
from storefront.shops.audit_models import AuditEntry
from storefront.webhooks.models import Event
from tests.carts.factories import make_cart
from tests.catalogue.factories import make_product, make_variant
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.shops.factories import NOW

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SALE = {"sale_price": Decimal("8.00"), "sale_from": NOW + HOUR, "sale_until": NOW + DAY}


def on_sale(shop, name="Mug", **given) -> Product:
    values = {"price": Decimal("10.00"), "status": "active"} | SALE | given
    return actions.create_product(shop=shop, name=name, now=NOW, **values)


def prices(row) -> tuple[str, str]:
    row.refresh_from_db()
    return str(row.price), str(row.compare_price)


def work(now) -> int:
    found = 0
    while turned := turn_due(now=now, limit=2):
        found += turned
    return found


def test_the_sale_price_holds_between_begin_and_end(shop):
    mug = on_sale(shop, compare_price=Decimal("11.00"))
    assert prices(mug) == ("10.00", "11.00")
    assert work(NOW + HOUR - timedelta(microseconds=1)) == 0
    assert work(NOW + HOUR) == 1
    assert prices(mug) == ("8.00", "10.00")
    assert work(NOW + DAY - timedelta(microseconds=1)) == 0
    assert work(NOW + DAY) == 1
    assert prices(mug) == ("10.00", "11.00")
    # A sale that has ended is forgotten.
    assert (mug.sale_price, mug.sale_from, mug.sale_until, mug.regular_compare_price) == (None,) * 4
    assert work(NOW + 9 * DAY) == 0


@pytest.mark.parametrize("missing", ["sale_from", "sale_until"])
def test_a_begin_or_an_end_is_enough(shop, missing):
    mug = on_sale(shop, **{missing: None})
    assert prices(mug) == (("8.00", "10.00") if missing == "sale_from" else ("10.00", "0.00"))
    work(NOW + 2 * HOUR)
    assert prices(mug) == ("8.00", "10.00")
    work(NOW + 2 * DAY)
    assert prices(mug) == (("8.00", "10.00") if missing == "sale_until" else ("10.00", "0.00"))


def test_each_variant_has_its_own(shop):
    variants = [{"name": "Blue", "price": Decimal("10.00"), **SALE}, {"name": "Red", "price": Decimal("10.00")}]
    scarf = actions.create_product(shop=shop, name="Scarf", variants=variants, now=NOW)
    blue, red = scarf.variants.all()
    work(NOW + HOUR)
    assert (prices(blue), prices(red)) == (("8.00", "10.00"), ("10.00", "0.00"))
    # Programs that ask for changes since a time find the product.
    scarf.refresh_from_db()
    assert scarf.updated_at == NOW + HOUR
    work(NOW + DAY)
    assert prices(blue) == ("10.00", "0.00")


def test_a_worker_that_was_away_for_all_of_it_changes_nothing(shop):
    mug = on_sale(shop)
    assert work(NOW + 2 * DAY) == 1
    assert (*prices(mug), mug.sale_price) == ("10.00", "0.00", None)
    assert not PastPrice.objects.exists()


def test_lists_sort_by_it_and_programs_read_it_and_hear_of_it(shop, other_shop, api):
    app = install(shop, "read_products", now=NOW)
    mug = on_sale(shop)
    make_product(shop, "Cup", price=Decimal("9.00"))
    theirs = on_sale(other_shop)
    cheapest = "/products?sort=price_asc"
    assert [row["name"] for row in api.get(cheapest).json()["data"]] == ["Cup", "Mug"]
    first = api.get("/products/mug")
    Event.objects.all().delete()
    work(NOW + HOUR)
    with time_machine.travel(NOW + HOUR, tick=False):
        assert [row["name"] for row in api.get(cheapest).json()["data"]] == ["Mug", "Cup"]
        answer = api.get("/products/mug", if_none_match=first["ETag"])
        assert answer.status_code == 200
        record = answer.json()["data"]
        assert (record["price"], record["compare_price"]) == ("8.00", "10.00")
        assert app.api.get(f"/products/{mug.pk}").json()["product"]["price"] == "8.00"
    events = Event.objects.filter(topic="product.updated").order_by("pk").filter(shop=shop)
    assert [event.data["price"] for event in events.all()] == ["8.00"]
    work(NOW + DAY)
    assert prices(theirs) == ("10.00", "0.00")
    assert [event.data["price"] for event in events.all()] == ["8.00", "10.00"]
    entry = AuditEntry.objects.filter(shop=shop, action="product.updated").latest("pk")
    assert (entry.before["price"], entry.after["price"]) == ("8.00", "10.00")


def test_baskets_cost_what_holds_at_the_moment_without_a_worker(shop):
    mug = on_sale(shop)
    scarf = make_product(shop, "Scarf", type="variable")
    blue = make_variant(scarf, "Blue", price=Decimal("10.00"), **SALE)
    cart = make_cart(shop)

    def cost(now) -> list[str]:
        for product, variant in ((mug, None), (scarf, blue.pk)):
            carts.add_line(shop=shop, now=now, cart=cart, product_id=product.pk, variant_id=variant, qty=1)
        return [str(line.price_snapshot) for line in cart.lines.order_by("pk")]

    assert cost(NOW) == ["10.00", "10.00"]
    assert cost(NOW + HOUR) == ["8.00", "8.00"]
    carts.reprice_cart(shop=shop, cart=cart, now=NOW + DAY)
    assert [str(line.price_snapshot) for line in cart.lines.order_by("pk")] == ["10.00", "10.00"]
    # Nothing but the worker writes the products.
    assert prices(mug) == ("10.00", "0.00")
    work(NOW + HOUR)
    carts.reprice_cart(shop=shop, cart=cart, now=NOW + HOUR)
    assert [str(line.price_snapshot) for line in cart.lines.order_by("pk")] == ["8.00", "8.00"]
    # A worker that is late with the end does not sell for less either.
    carts.reprice_cart(shop=shop, cart=cart, now=NOW + DAY)
    assert [str(line.price_snapshot) for line in cart.lines.order_by("pk")] == ["10.00", "10.00"]


def test_the_lowest_price_before_a_sale_is_the_regular_one_until_another_sale(shop):
    mug = on_sale(shop)
    work(NOW + HOUR)
    assert lowest_before(shop, mug.pk, NOW + HOUR) == {None: Decimal("10.00")}
    work(NOW + DAY)
    again = {"sale_price": Decimal("9.00"), "sale_until": NOW + 5 * DAY}
    actions.update_product(shop=shop, product=mug, now=NOW + 2 * DAY, **again)
    assert prices(mug) == ("9.00", "10.00")
    assert lowest_before(shop, mug.pk, NOW + 2 * DAY) == {None: Decimal("8.00")}
    assert list(PastPrice.objects.order_by("pk").values_list("price", "until")) == [
        (Decimal("10.00"), NOW + HOUR),
        (Decimal("8.00"), NOW + DAY),
        (Decimal("10.00"), NOW + 2 * DAY),
    ]


def test_during_a_sale_the_compare_price_is_the_regular_price(shop):
    mug = on_sale(shop, sale_from=None)
    mug = actions.update_product(shop=shop, product=mug, compare_price=Decimal("12.00"), now=NOW)
    assert prices(mug) == ("8.00", "12.00")
    mug = actions.update_product(shop=shop, product=mug, sale_price=Decimal("7.00"), now=NOW)
    assert prices(mug) == ("7.00", "12.00")
    mug = actions.update_product(shop=shop, product=mug, sale_price=None, now=NOW)
    assert (*prices(mug), mug.sale_until) == ("12.00", "0.00", None)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"sale_price": Decimal("10.00")}, "sale_price"),
        ({"sale_until": NOW}, "sale_until"),
        ({"sale_until": NOW + HOUR, "sale_from": NOW + DAY}, "sale_until"),
        ({"sale_price": None, "sale_from": NOW}, "sale_from"),
        ({"price": Decimal("9.00")}, "price"),
        ({"compare_price": Decimal("7.00")}, "sale_price"),
        ({"is_gift_card": True}, "sale_price"),
    ],
)
def test_what_cannot_be_is_refused_with_its_field_and_nothing_changes(shop, given, field):
    mug = on_sale(shop, sale_from=None)
    with pytest.raises(InvalidFields) as refused:
        actions.update_product(shop=shop, product=mug, now=NOW, **given)
    assert field in refused.value.errors
    assert (*prices(mug), mug.sale_until) == ("8.00", "10.00", NOW + DAY)


def test_an_app_plans_a_sale_and_cannot_write_its_state(shop):
    app, mug = install(shop, "write_products", "read_products").api, make_product(shop, "Mug", price=Decimal("10.00"))
    body = {"sale_price": "8.00", "sale_until": "2099-01-01T00:00:00Z", "regular_compare_price": "3.00"}
    answer = app.patch(f"/products/{mug.pk}", body)
    assert "regular_compare_price" in answer["X-Ignored"]
    record = answer.json()["product"]
    assert [record[name] for name in ("price", "compare_price", "sale_price")] == ["8.00", "10.00", "8.00"]
    # A program can send back all that it has read.
    names = ("price", "compare_price", "sale_price", "sale_from", "sale_until")
    answer = app.patch(f"/products/{mug.pk}", {name: record[name] for name in names})
    assert (answer.status_code, answer.json()["product"]["price"]) == (200, "8.00")
    refused = app.patch(f"/products/{mug.pk}", {"price": "9.00"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["price"])
    variants = [{"name": "Blue", "price": "10.00", "sale_price": "11.00"}]
    refused = app.patch(f"/products/{mug.pk}", {"variants": variants})
    assert list(refused.json()["errors"]) == ["variants.0.sale_price"]


def test_the_sweep_takes_five_queries_while_nothing_is_due(shop, django_assert_num_queries):
    on_sale(shop)
    with django_assert_num_queries(5):
        assert turn_due(now=NOW, limit=9) == 0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_workers_and_editors_at_once_leave_one_state(shop):
    mugs = [on_sale(shop, f"Mug {number}") for number in range(12)]

    def edit():
        for mug in mugs:
            actions.update_product(
                shop=shop, product=mug, name=f"{mug.name}!", cost_price=Decimal("1.00"), now=NOW + HOUR
            )

    def reduce():
        for mug in mugs:
            # Refused once the sale has begun, and else of no effect on it.
            with suppress(InvalidFields):
                actions.update_product(shop=shop, product=mug, price=Decimal("12.00"), now=NOW)

    run_concurrently(lambda: work(NOW + HOUR), lambda: work(NOW + HOUR), edit, reduce)
    work(NOW + HOUR)
    assert {str(mug.price) for mug in Product.objects.all()} == {"8.00"}
    assert {str(mug.compare_price) for mug in Product.objects.all()} <= {"10.00", "12.00"}
    work(NOW + DAY)
    assert {str(mug.price) for mug in Product.objects.all()} <= {"10.00", "12.00"}
    assert not Variant.objects.exists()


def test_begin_and_end_drop_what_processes_remember_of_the_shop(shop, other_shop, django_capture_on_commit_callbacks):
    on_sale(shop)
    for moment in (NOW + HOUR, NOW + DAY):
        known = changes.version(shop.pk), changes.version(other_shop.pk)
        with django_capture_on_commit_callbacks(execute=True):
            work(moment)
        assert changes.version(shop.pk) > known[0]
        assert changes.version(other_shop.pk) == known[1]
