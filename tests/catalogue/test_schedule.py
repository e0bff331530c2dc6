"""Apps hear of products that go on sale, or off it, because their time came: nobody wrote anything then."""

from datetime import datetime, timedelta

import pytest

from storefront.apps.actions import uninstall_app
from storefront.catalogue.models import Product, ScheduleTold
from storefront.catalogue.schedule import tell_of_schedule
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.races import at_once
from tests.shops.factories import NOW

HOUR = timedelta(hours=1)


@pytest.fixture
def app(shop):
    return install(shop, "read_products", now=NOW)


def told(shop, now: datetime, limit: int = 500) -> list[str]:
    """Names of the products that a worker tells of, in order."""
    while tell_of_schedule(now=now, limit=limit):
        pass
    events = Event.objects.filter(shop=shop, topic="product.updated").order_by("pk")
    found = [event.data["name"] for event in events]
    events.delete()
    return found


def test_a_product_is_told_of_when_it_goes_on_sale_and_when_it_goes_off_once_each(shop, app):
    make_product(shop, "Mug", publish_at=NOW + HOUR, unpublish_at=NOW + 3 * HOUR)
    make_product(shop, "Plate")
    assert told(shop, NOW + HOUR) == []
    assert told(shop, NOW + 2 * HOUR) == ["Mug"]
    assert told(shop, NOW + 2 * HOUR) == []
    assert told(shop, NOW + 4 * HOUR) == ["Mug"]
    assert told(shop, NOW + 5 * HOUR) == []


def test_what_is_told_is_the_products_record(shop, app):
    mug = make_product(shop, "Mug", publish_at=NOW + HOUR)
    tell_of_schedule(now=NOW + 2 * HOUR, limit=9)
    assert Event.objects.get(topic="product.updated").data == app.api.get(f"/products/{mug.pk}").json()["product"]


def test_as_many_as_begin_at_one_moment_are_each_told_of_once(shop, app):
    for number in range(7):
        make_product(shop, f"Mug {number}", publish_at=NOW + HOUR)
    assert told(shop, NOW + 2 * HOUR, limit=3) == [f"Mug {number}" for number in range(7)]


def test_one_that_was_written_after_its_time_has_told_of_itself(shop, app):
    make_product(shop, "Mug", publish_at=NOW + HOUR, updated_at=NOW + 2 * HOUR)
    assert told(shop, NOW + 3 * HOUR) == []


@pytest.mark.parametrize("given", [{"status": "draft"}, {"deleted_at": NOW}, {"exclude_from_catalog": True}])
def test_one_that_no_list_shows_is_not_told_of(shop, app, given):
    make_product(shop, "Mug", publish_at=NOW + HOUR, **given)
    assert told(shop, NOW + 2 * HOUR) == []


def test_only_what_comes_true_while_an_app_is_there_is_told(shop, other_shop):
    for each in (shop, other_shop):
        make_product(each, "Mug", publish_at=NOW + HOUR)
        make_product(each, "Plate", publish_at=NOW + 5 * HOUR)
    assert told(shop, NOW + 2 * HOUR) == []
    app = install(shop, "read_products", now=NOW + 3 * HOUR)
    assert told(shop, NOW + 4 * HOUR) == []
    assert told(shop, NOW + 6 * HOUR) == ["Plate"]
    assert not Event.objects.filter(shop=other_shop).exists()
    uninstall_app(shop=shop, installation=app.installation, now=NOW + 7 * HOUR)
    Product.objects.update(publish_at=NOW + 8 * HOUR)
    assert told(shop, NOW + 9 * HOUR) == []
    assert not ScheduleTold.objects.exists()
    install(shop, "read_products", now=NOW + 10 * HOUR)
    assert told(shop, NOW + 11 * HOUR) == []


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_tell_of_each_once(shop, app):
    for number in range(20):
        make_product(shop, f"Mug {number}", publish_at=NOW + HOUR + timedelta(seconds=number % 3))

    def tell() -> int:
        found = 0
        while count := tell_of_schedule(now=NOW + 2 * HOUR, limit=3):
            found += count
        return found

    assert sum(at_once(*[tell] * 4)) == 20
    assert Event.objects.filter(topic="product.updated").count() == 20


def test_a_worker_with_nothing_to_tell_asks_little(shop, app, django_assert_num_queries):
    make_product(shop, "Mug", publish_at=NOW + HOUR)
    assert told(shop, NOW + 2 * HOUR) == ["Mug"]
    # Which shops have apps, old and new, and which of them have a product whose time came.
    with django_assert_num_queries(3):
        tell_of_schedule(now=NOW + 3 * HOUR, limit=9)
