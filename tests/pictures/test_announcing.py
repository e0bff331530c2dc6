"""A fetched picture is a change of its product: for copies of the shop, for caches, and for apps."""

import pytest

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.pictures.models import PictureFetch
from storefront.shops import changes
from storefront.sync.models import Change
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.pictures.hosts import drawn, fetch_waiting, picture_host, requested
from tests.shops.factories import NOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def updated(shop) -> list[dict]:
    return [event.data for event in Event.objects.filter(shop=shop, topic="product.updated").order_by("pk")]


def test_cached_reads_and_their_etags_change(shop, api):
    make_product(shop, "Cup", slug="cup")
    with picture_host(cup=drawn()) as host:
        requested(shop, host.url("/cup"), product=Product.objects.get())
        old = [api.get(path) for path in ("/products", "/products/cup")]
        mark = changes.latest_change()
        fetch_waiting(shop)
        # Responses in the memory of web processes.
        assert changes.version(shop.pk) > mark
        for before, path in zip(old, ("/products", "/products/cup"), strict=True):
            after = api.get(path, HTTP_IF_NONE_MATCH=before["ETag"])
            assert after.status_code == 200
            assert after["ETag"] != before["ETag"]
            assert "/media/products/" in after.content.decode()


def test_the_log_of_changes_has_it(shop, other_shop):
    with picture_host(cup=drawn()) as host:
        (media,) = requested(shop, host.url("/cup"))
        last = Change.objects.latest("pk").pk
        fetch_waiting(shop)
    new = Change.objects.filter(pk__gt=last)
    assert list(new.values_list("shop", "kind", "object_id")) == [(shop.pk, "product", media.product_id)]
    assert Product.objects.get().updated_at > NOW


@pytest.mark.rule("R-HOOK-20")
def test_apps_hear_once_of_all_pictures_of_a_product(shop, other_shop):
    install(shop, "read_products")
    install(other_shop, "read_products")
    with picture_host(cup=drawn(), mug=drawn()) as host:
        cup, mug = make_product(shop, "Cup"), make_product(shop, "Mug")
        requested(shop, *[host.url("/cup")] * 10, product=cup)
        requested(shop, host.url("/mug"), product=mug)
        Event.objects.all().delete()
        fetch_waiting(shop)
    told = updated(shop)
    assert sorted(record["id"] for record in told) == [cup.pk, mug.pk]
    (of_cup,) = [record for record in told if record["id"] == cup.pk]
    assert all(media["url"].startswith(f"{shop.base_url}/media/") for media in of_cup["media"])
    assert len(of_cup["media"]) == 10
    assert updated(other_shop) == []


@pytest.mark.rule("R-HOOK-20")
def test_a_picture_that_comes_later_is_told_of_again_and_one_that_never_comes_holds_nothing_up(shop):
    install(shop, "read_products")
    with picture_host(cup=drawn(), mug=500, jug=404) as host:
        requested(shop, *(host.url(f"/{name}") for name in ("cup", "mug", "jug")), product=make_product(shop, "Cup"))
        Event.objects.all().delete()
        fetch_waiting(shop)
        assert len(updated(shop)) == 1
        PictureFetch.objects.update(due_at=clock.now())
        fetch_waiting(shop)
        assert len(updated(shop)) == 1
        host.answers["/mug"] = drawn()
        PictureFetch.objects.update(due_at=clock.now())
        fetch_waiting(shop)
    assert len(updated(shop)) == 2


def test_a_shop_without_an_app_records_no_event(shop):
    with picture_host(cup=drawn()) as host:
        requested(shop, host.url("/cup"))
        fetch_waiting(shop)
    assert not Event.objects.exists()
