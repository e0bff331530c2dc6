"""Events of products that a date publishes or unpublishes, without a write."""

from datetime import datetime, timedelta

import pytest

from storefront.apps.actions import uninstall_app
from storefront.catalogue.dated.schedule import emit_scheduled_changes
from storefront.catalogue.models import Product, ScheduleTold
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.shops.factories import NOW

HOUR = timedelta(hours=1)


@pytest.fixture
def app(shop):
    return install(shop, "read_products", now=NOW)


def emitted(shop, now: datetime, limit: int = 500) -> list[str]:
    """Names of the products whose events the worker emits, in order."""
    while emit_scheduled_changes(now=now, limit=limit):
        pass
    events = Event.objects.filter(shop=shop, topic="product.updated").order_by("pk")
    found = [event.data["name"] for event in events]
    events.delete()
    return found


def test_publishing_and_unpublishing_by_date_emit_one_event_each(shop, app):
    make_product(shop, "Mug", publish_at=NOW + HOUR, unpublish_at=NOW + 3 * HOUR)
    make_product(shop, "Plate")
    assert emitted(shop, NOW + HOUR) == []
    assert emitted(shop, NOW + 2 * HOUR) == ["Mug"]
    assert emitted(shop, NOW + 2 * HOUR) == []
    assert emitted(shop, NOW + 4 * HOUR) == ["Mug"]
    assert emitted(shop, NOW + 5 * HOUR) == []


def test_the_event_has_the_products_record(shop, app):
    mug = make_product(shop, "Mug", publish_at=NOW + HOUR)
    emit_scheduled_changes(now=NOW + 2 * HOUR, limit=9)
    assert Event.objects.get(topic="product.updated").data == app.api.get(f"/products/{mug.pk}").json()["product"]


def test_products_with_the_same_date_emit_one_event_each(shop, app):
    for number in range(7):
        make_product(shop, f"Mug {number}", publish_at=NOW + HOUR)
    assert emitted(shop, NOW + 2 * HOUR, limit=3) == [f"Mug {number}" for number in range(7)]


def test_a_product_written_after_its_date_is_left_out(shop, app):
    make_product(shop, "Mug", publish_at=NOW + HOUR, updated_at=NOW + 2 * HOUR)
    assert emitted(shop, NOW + 3 * HOUR) == []


@pytest.mark.parametrize("given", [{"status": "draft"}, {"deleted_at": NOW}, {"exclude_from_catalog": True}])
def test_an_unlisted_product_emits_nothing(shop, app, given):
    make_product(shop, "Mug", publish_at=NOW + HOUR, **given)
    assert emitted(shop, NOW + 2 * HOUR) == []


def test_only_dates_while_an_app_is_installed_emit_events(shop, other_shop):
    for each in (shop, other_shop):
        make_product(each, "Mug", publish_at=NOW + HOUR)
        make_product(each, "Plate", publish_at=NOW + 5 * HOUR)
    assert emitted(shop, NOW + 2 * HOUR) == []
    app = install(shop, "read_products", now=NOW + 3 * HOUR)
    assert emitted(shop, NOW + 4 * HOUR) == []
    assert emitted(shop, NOW + 6 * HOUR) == ["Plate"]
    assert not Event.objects.filter(shop=other_shop).exists()
    uninstall_app(shop=shop, installation=app.installation, now=NOW + 7 * HOUR)
    Product.objects.update(publish_at=NOW + 8 * HOUR)
    assert emitted(shop, NOW + 9 * HOUR) == []
    assert not ScheduleTold.objects.exists()
    install(shop, "read_products", now=NOW + 10 * HOUR)
    assert emitted(shop, NOW + 11 * HOUR) == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_emit_each_event_once(shop, app):
    for number in range(20):
        make_product(shop, f"Mug {number}", publish_at=NOW + HOUR + timedelta(seconds=number % 3))

    def emit() -> int:
        found = 0
        while count := emit_scheduled_changes(now=NOW + 2 * HOUR, limit=3):
            found += count
        return found

    assert sum(run_concurrently(*[emit] * 4)) == 20
    assert Event.objects.filter(topic="product.updated").count() == 20


def test_a_run_without_due_products_takes_three_queries(shop, app, django_assert_num_queries):
    make_product(shop, "Mug", publish_at=NOW + HOUR)
    assert emitted(shop, NOW + 2 * HOUR) == ["Mug"]
    # Shops that lost their apps, shops with a first app, and shops with a product whose date has passed.
    with django_assert_num_queries(3):
        assert emit_scheduled_changes(now=NOW + 3 * HOUR, limit=9) == 0
