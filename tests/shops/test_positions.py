"""With replicas, a position in the log is stored before anybody can know of a change."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection, transaction

from storefront.catalogue.models import Category
from storefront.kit import clock
from storefront.kit.replicas import reading
from storefront.shops import announcing, changes, positions
from storefront.shops.models import WrittenPosition
from storefront.webhooks.dispatch import dispatch
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.shops.factories import make_token
from tests.webhooks.factories import emit

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no replicas"),
]


@pytest.fixture
def replicas(settings) -> Iterator[None]:
    """Positions are written as with replicas, of which none is asked."""
    announcing.flush()
    settings.REPLICAS = {"replica1": {}}
    yield
    announcing.flush()


def position(shop) -> int:
    return WrittenPosition.objects.filter(shop_id=shop.pk).values_list("position", flat=True).first() or 0


def test_a_write_of_an_app_stores_the_position_of_its_shop_alone(shop, other_shop, replicas, monkeypatch):
    mug, app = make_product(shop, "Mug"), install(shop, "write_products")
    announcing.flush()
    # Its notice to other processes comes later, and stores another.
    monkeypatch.setattr(announcing, "announce", lambda _shop: None)
    before, others = reading.current_position(), position(other_shop)
    assert app.api.patch(f"/products/{mug.pk}", {"name": "Cup"}).status_code == 200
    assert before < position(shop) <= reading.current_position()
    assert position(other_shop) == others


def test_a_cart_stores_none(shop, replicas):
    mug = make_product(shop, "Mug", stock_qty=3)
    announcing.flush()
    before, api = position(shop), ApiClient(make_token(shop))
    assert api.post("/cart", {"product_id": mug.pk, "qty": 1}).status_code == 201
    assert position(shop) == before


def test_a_form_of_staff_stores_the_position(shop, replicas, settings, desk, monkeypatch):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "storefront.staff.replica_positions.StaffPositions"]
    monkeypatch.setattr(announcing, "announce", lambda _shop: None)
    before = reading.current_position()
    assert desk.fill(Category, name="Kitchen").status_code == 302
    assert position(shop) > before


def test_a_shop_is_read_on_the_primary_until_its_change_is_announced(shop, other_shop, replicas):
    positions.record([shop.pk])
    before = reading.current_position()
    with psycopg.connect(**connection.get_connection_params()) as other:
        # The announcer waits for this lock.
        other.execute("SELECT 1 FROM shops_writtenposition WHERE shop_id = %s FOR UPDATE", [shop.pk])
        changes.publish_change(shop.pk)
        assert positions.needed(shop.pk) is None
        assert positions.needed(other_shop.pk) is not None
        assert not announcing.flush(0.2)
        assert positions.needed(shop.pk) is None
        other.rollback()
        assert announcing.flush(30)
    assert positions.needed(shop.pk) >= before


def test_who_sees_an_event_sees_the_position_of_its_change(shop, other_shop, replicas):
    emit(shop)
    before, others = reading.current_position(), position(other_shop)
    with transaction.atomic():
        dispatch(clock.now())
        assert position(shop) >= before
        transaction.set_rollback(True)
    assert position(shop) < before
    dispatch(clock.now())
    assert position(shop) >= before
    assert position(other_shop) == others


def test_a_later_position_is_never_replaced_by_an_earlier_one(shop, other_shop, replicas):
    """Each takes its position when it has the row's lock, and so after what the one before committed."""
    stored = []

    def write() -> None:
        for _ in range(30):
            positions.record([other_shop.pk, shop.pk])
            least = reading.current_position()
            stored.append(least)
            positions.record([shop.pk])
            assert position(shop) >= least

    run_concurrently(*[write] * 4)
    assert position(shop) >= max(stored)


def test_without_replicas_nothing_is_stored_or_asked(shop, django_assert_num_queries):
    mug, app = make_product(shop, "Mug"), install(shop, "write_products")
    app.api.patch(f"/products/{mug.pk}", {"name": "Cup"})
    announcing.flush()
    assert not WrittenPosition.objects.exists()
    with django_assert_num_queries(0):
        assert reading.read(lambda: 1, lambda: positions.needed(shop.pk)) == (1, False)
