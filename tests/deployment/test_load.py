"""How many requests a shop gets, and what they cost."""

from datetime import timedelta

import pytest
from django.db import DatabaseError

from storefront.deployment import load
from storefront.deployment.counting import count_due_shops
from storefront.deployment.models import ShopFigures, ShopLoad
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.races import run_concurrently
from tests.server.edges import EdgeClient
from tests.shops.factories import NOW, make_shop, make_token


def rows() -> list[tuple]:
    return list(ShopLoad.objects.order_by("day", "shop").values_list("shop", "day", "requests", "milliseconds"))


def test_counts_pages_and_calls_of_each_shop(shop, other_shop, client):
    api = ApiClient(make_token(shop))
    for _ in range(3):
        api.get("/products")
    client.get("/", headers={"host": other_shop.domain})
    client.get("/", headers={"host": "nobody.example.net"})
    load.flush(NOW)
    assert [(row[0], row[2]) for row in rows()] == [(shop.pk, 3), (other_shop.pk, 1)]
    assert all(row[3] >= 0 for row in rows())


@pytest.mark.django_db(transaction=True)
def test_counts_answers_from_memory(shop):
    token = make_token(shop)
    make_product(shop, "Mug")
    edge = EdgeClient()
    assert edge.becomes_hit("/products", token)
    load.flush(NOW)
    assert [(row[0], row[2]) for row in rows()] == [(shop.pk, edge.calls)]
    assert edge.hits


def test_adds_to_the_day_and_begins_anew_with_the_next(shop):
    for seconds, now in ((1.5, NOW), (0.25, NOW + timedelta(hours=1)), (1.0, NOW + timedelta(days=1))):
        load.count(shop.domain, seconds)
        load.flush(now)
    assert [(row[2], row[3]) for row in rows()] == [(2, 1750), (1, 1000)]


def test_a_domain_that_no_shop_has_any_more_is_dropped(shop):
    load.count("gone.example.com", 1.0)
    load.count(shop.domain, 1.0)
    load.flush(NOW)
    assert [row[0] for row in rows()] == [shop.pk]
    assert load._counts == {}


def test_what_cannot_be_written_is_kept(shop, monkeypatch):
    load.count(shop.domain, 1.0)
    with monkeypatch.context() as patch:

        def away(_counts, _now):
            raise DatabaseError("away")

        patch.setattr(load, "_write", away)
        load.flush(NOW)
        load.count(shop.domain, 1.0)
    load.flush(NOW)
    assert [(row[2], row[3]) for row in rows()] == [(2, 2000)]


@pytest.mark.django_db(transaction=True)
def test_processes_that_write_at_once_lose_nothing(shop, other_shop):
    def write() -> None:
        load._write({shop.domain: (1, 1.0), other_shop.domain: (2, 1.0)}, NOW)

    run_concurrently(*[write] * 4)
    assert [(row[0], row[2], row[3]) for row in rows()] == [(shop.pk, 4, 4000), (other_shop.pk, 8, 4000)]


def test_old_days_are_deleted_a_few_at_a_time(shop):
    for days in range(35):
        load.count(shop.domain, 1.0)
        load.flush(NOW - timedelta(days=days))
    assert load.delete_old_load(now=NOW, limit=3) == 3
    assert load.delete_old_load(now=NOW, limit=10) == 1
    assert load.delete_old_load(now=NOW, limit=10) == 0


def test_figures_have_the_last_week(shop, other_shop):
    for days in (0, 6, 7):
        load.count(shop.domain, 1.0)
        load.flush(NOW - timedelta(days=days))
    assert count_due_shops(now=NOW, limit=10) == 2
    assert list(ShopFigures.objects.order_by("shop").values_list("requests", "milliseconds")) == [(2, 2000), (0, 0)]


def test_figures_are_counted_again_after_some_minutes_the_oldest_first(shop, other_shop):
    assert count_due_shops(now=NOW, limit=1) == 1
    assert count_due_shops(now=NOW + timedelta(minutes=1), limit=10) == 1
    assert count_due_shops(now=NOW + timedelta(minutes=2), limit=10) == 0
    make_product(shop, "Mug")
    assert count_due_shops(now=NOW + timedelta(minutes=5), limit=1) == 1
    assert ShopFigures.objects.get(shop=shop).products == 1


def test_a_new_shop_is_counted_before_others_are_counted_again(shop, other_shop):
    count_due_shops(now=NOW, limit=10)
    new = make_shop("new.example.com")
    assert count_due_shops(now=NOW + timedelta(minutes=6), limit=1) == 1
    assert ShopFigures.objects.filter(shop=new).exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_count_at_once_leave_one_row(shop, other_shop):
    run_concurrently(*[lambda: count_due_shops(now=NOW, limit=10)] * 3)
    assert ShopFigures.objects.count() == 2
