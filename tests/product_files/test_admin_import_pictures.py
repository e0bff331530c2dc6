"""The page of an import shows how its pictures come in, and tries failed ones again."""

import pytest
from django.urls import reverse

from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.product_files.models import ProductImport
from tests.catalogue.factories import make_product
from tests.pictures.hosts import take_up_all
from tests.product_files.files import as_lines
from tests.product_files.test_admin_imports import upload, work
from tests.staff import make_staff, open_desk

CUP = {"name": "Cup", "sku": "C", "price": "9.50", "media": [f"https://old.example.com/{n}.jpg" for n in range(1, 4)]}
FILE = as_lines(CUP).encode()


@pytest.fixture
def role() -> str:
    return "manager"


def fail(number: int, reason: str = "The host answered with status 404.", **filters) -> None:
    rows = PictureFetch.objects.filter(media__source_url=f"https://old.example.com/{number}.jpg", **filters)
    assert rows.update(state="failed", reason=reason)


def shown(desk, row) -> str:
    return desk.page(row).content.decode()


def retry(desk, row):
    return desk.post(reverse("admin:catalogue_productimport_retry_pictures", args=[row.pk]), {"_form_submitted": "on"})


def test_the_page_counts_fetched_pictures_and_follows_them(desk, shop, other_shop):
    upload(desk, FILE, fetch_pictures="on")
    work()
    row = ProductImport.objects.get()
    # Before and after the worker has taken them up.
    for take_up in (lambda _shop: None, take_up_all):
        take_up(shop)
        page = shown(desk, row)
        assert "0 of 3 fetched" in page
        assert 'hx-trigger="every 10s"' in page
        assert "Try failed pictures again" not in page
    PictureFetch.objects.update(state="fetched")
    page = shown(desk, row)
    assert "3 of 3 fetched" in page
    assert 'hx-trigger="every' not in page


def test_failures_are_listed_with_their_reasons_and_can_be_tried_again(desk, shop, other_shop):
    upload(desk, FILE, fetch_pictures="on")
    work()
    row = ProductImport.objects.get()
    take_up_all(shop)
    PictureFetch.objects.update(state="fetched")
    fail(2, "The host answered with <status> 404.")
    page = shown(desk, row)
    assert "2 of 3 fetched, 1 failed" in page
    for part in (
        "Cup",
        "https://old.example.com/2.jpg",
        "The host answered with &lt;status&gt; 404.",
        "Try failed pictures",
    ):
        assert part in page
    assert retry(desk, row).status_code == 302
    assert PictureFetch.objects.filter(state="waiting").count() == 1
    assert "Try failed pictures again" not in shown(desk, row)


@pytest.mark.slow
def test_only_the_pictures_of_this_import_count(desk, shop):
    upload(desk, FILE, fetch_pictures="on")
    upload(desk, as_lines(CUP | {"sku": "D", "name": "Dish"}).encode(), fetch_pictures="on")
    work()
    first, second = ProductImport.objects.order_by("pk")
    assert "0 of 3 fetched" in shown(desk, first)
    take_up_all(shop)
    fail(1, product_import=first.pk)
    assert "0 of 3 fetched, 1 failed" in shown(desk, first)
    assert "failed" not in shown(desk, second).split("0 of 3 fetched")[1][:20]
    retry(desk, second)
    assert PictureFetch.objects.filter(state="failed").count() == 1


def test_the_box_leaves_pictures_at_their_addresses(desk, shop):
    upload(desk, FILE, fetch_pictures=False)
    work()
    assert not PictureRequest.objects.exists()
    assert not PictureFetch.objects.exists()
    assert "Left at their addresses" in shown(desk, ProductImport.objects.get())


def test_the_box_is_ticked(desk):
    assert b'name="fetch_pictures"' in desk.get(reverse("admin:catalogue_productimport_add")).content
    assert ProductImport().fetch_pictures


def test_another_shop_sees_nothing_and_changes_nothing(desk, shop, other_shop):
    upload(desk, FILE, fetch_pictures="on")
    work()
    take_up_all(shop)
    fail(1)
    row = ProductImport.objects.get()
    stranger = open_desk(make_staff(other_shop, "ben"))
    assert retry(stranger, row).status_code == 404
    assert PictureFetch.objects.filter(state="failed").count() == 1


def test_a_file_without_pictures_has_none_to_fetch(desk, shop):
    make_product(shop, "Cup", sku="C")
    upload(desk, FILE, fetch_pictures="on")
    work()
    assert "None to fetch" in shown(desk, ProductImport.objects.get())
