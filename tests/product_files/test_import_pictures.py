"""Which pictures of a product file are requested from the worker, and what a second import of it changes."""

import json

import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from storefront.catalogue.models import Media, Product
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.requesting import PictureRequests, request_missing, retry_failed
from storefront.product_files.models import ProductImport
from storefront.shops.models import AuditEntry
from tests.pictures.hosts import drawn, take_up_all
from tests.product_files.files import as_lines, exported, imported, woo
from tests.shops.factories import NOW, make_shop

ONE, TWO, THREE, FOUR = (f"https://Old.example.com:8443/{number}.jpg" for number in (1, 2, 3, 4))
SHIRT = {
    "name": "Shirt",
    "sku": "S1",
    "price": "10.00",
    "status": "active",
    "attributes": [{"name": "Colour", "values": ["Blue"], "variation": True}],
    "media": [{"url": ONE, "alt": "Front"}, TWO],
    "variants": [{"option_values": {"Colour": "Blue"}, "price": "10.00", "image": THREE}],
}


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def requests(shop) -> list[str]:
    take_up_all(shop)
    rows = PictureFetch.objects.filter(shop=shop, state="waiting").order_by("media__sort_order")
    return list(rows.values_list("media__source_url", flat=True))


def with_pictures(shop, content, path, **given):
    return imported(shop, content, path, pictures=PictureRequests(shop, NOW), **given)


def put_files(shop) -> None:
    """As if the worker had fetched every picture."""
    take_up_all(shop)
    for media in Media.objects.filter(shop=shop, file=""):
        media.file.save(f"{media.pk}.png", ContentFile(drawn()))
    PictureFetch.objects.filter(shop=shop).update(state="fetched")


def test_each_picture_of_a_new_product_is_requested_once(shop, other_shop, tmp_path):
    with_pictures(shop, as_lines(SHIRT, SHIRT | {"sku": "S2", "media": None, "variants": None}), tmp_path)
    # The import leaves one row, of which the worker makes one of each picture.
    assert list(PictureRequest.objects.values_list("shop", "pictures", "made_at")) == [(shop.pk, 3, NOW)]
    assert not PictureFetch.objects.exists()
    assert requests(shop) == [ONE, TWO, THREE]
    row = PictureFetch.objects.first()
    assert (row.host, row.due_at, row.attempts, row.lease) == ("old.example.com:8443", NOW, 0, None)
    assert requests(other_shop) == []


def test_without_them_the_addresses_stay(shop, tmp_path):
    imported(shop, as_lines(SHIRT), tmp_path)
    assert Media.objects.count() == 3
    assert requests(shop) == []


def test_a_dry_run_requests_nothing(shop, tmp_path):
    with_pictures(shop, as_lines(SHIRT), tmp_path, dry_run=True)
    assert requests(shop) == []


def test_a_file_of_the_shop_itself_is_not_requested(shop, tmp_path):
    own = f"{shop.base_url}/media/products/cup.png"
    with_pictures(shop, as_lines(SHIRT | {"media": [own, ONE]}), tmp_path)
    assert PictureRequest.objects.get().pictures == 2
    assert requests(shop) == [ONE, THREE]


def test_an_import_that_is_rolled_back_leaves_no_request(shop, tmp_path, monkeypatch):
    def killed(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr("storefront.product_files.import_run.ImportRun._link", killed)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        with_pictures(shop, as_lines(SHIRT), tmp_path)
    assert not Media.objects.exists()
    assert not PictureRequest.objects.exists()


def test_an_update_requests_new_pictures_alone(shop, tmp_path):
    with_pictures(shop, as_lines(SHIRT), tmp_path)
    put_files(shop)
    again = with_pictures(shop, as_lines(SHIRT), tmp_path, update=True)
    assert again.changes == []
    assert requests(shop) == []
    more = SHIRT | {"media": [*SHIRT["media"], "https://old.example.com/4.jpg"]}
    changed = with_pictures(shop, as_lines(more), tmp_path, update=True)
    assert changed.updated == 1
    assert requests(shop) == ["https://old.example.com/4.jpg"]
    assert Media.objects.count() == 4


def test_an_update_asks_for_all_new_pictures_of_a_batch_at_once(shop, tmp_path):
    cups = [{"name": f"Cup {number}", "sku": f"C{number}", "price": "5"} for number in range(3)]
    with_pictures(shop, as_lines(*cups), tmp_path)
    pictured = [cup | {"media": [f"{ONE}?{number}"]} for number, cup in enumerate(cups)]
    assert with_pictures(shop, as_lines(*pictured), tmp_path, update=True).updated == 3
    assert PictureRequest.objects.get().pictures == 3
    assert sorted(requests(shop)) == [f"{ONE}?{number}" for number in range(3)]


def test_the_old_shops_csv_matches_fetched_pictures(shop, tmp_path):
    rows = [woo(sku="A", images=f"{ONE}, {TWO}")]
    with_pictures(shop, rows, tmp_path)
    put_files(shop)
    before = list(Media.objects.values())
    assert with_pictures(shop, rows, tmp_path, update=True).skipped == 1
    with_pictures(shop, [woo(sku="A", images=f"{TWO}, {ONE}")], tmp_path, update=True)
    assert [(row["id"], row["file"]) for row in Media.objects.order_by("pk").values()] == [
        (row["id"], row["file"]) for row in sorted(before, key=lambda row: row["id"])
    ]
    assert [row.source_url for row in Product.objects.get().media.all()] == [TWO, ONE]
    assert requests(shop) == []


def test_an_export_has_our_urls_and_comes_back_unchanged(shop, tmp_path):
    with_pictures(shop, as_lines(SHIRT), tmp_path)
    put_files(shop)
    content = exported(shop)
    product = json.loads(content)
    urls = [media["url"] for media in product["media"]]
    assert all(url.startswith(f"{shop.base_url}/media/") for url in urls)
    assert product["variants"][0]["image"] == urls[2]
    assert with_pictures(shop, content, tmp_path, update=True).skipped == 1
    assert requests(shop) == []
    assert exported(shop) == content


def test_pictures_of_the_same_content_stay_apart(shop, tmp_path):
    """They share a file and so a URL."""
    with_pictures(shop, as_lines(SHIRT), tmp_path)
    put_files(shop)
    shared = Media.objects.first().file.name
    Media.objects.update(file=shared)
    content = exported(shop)
    assert len({media["url"] for media in json.loads(content)["media"]}) == 1
    for again in (content, as_lines(SHIRT)):
        assert with_pictures(shop, again, tmp_path, update=True).changes == []
    assert list(Media.objects.order_by("sort_order").values_list("source_url", flat=True)) == [ONE, TWO, THREE]
    assert exported(shop) == content
    other = make_shop("copy.example.com", name="Copy")
    imported(other, content, tmp_path)
    assert Media.objects.filter(shop=other).count() == 3


def test_a_picture_that_a_file_no_longer_has_is_removed_with_its_request(shop, tmp_path):
    with_pictures(shop, as_lines(SHIRT), tmp_path)
    with_pictures(shop, as_lines(SHIRT | {"media": [ONE]}), tmp_path, update=True)
    assert requests(shop) == [ONE, THREE]


def test_what_an_import_asked_for_keeps_its_number_when_all_are_requested(shop, tmp_path):
    number = ProductImport.objects.create(shop=shop, created_at=NOW).pk
    imported(shop, as_lines(SHIRT), tmp_path)
    other = {"name": "Coat", "sku": "S2", "price": "10.00", "media": [FOUR]}
    imported(shop, as_lines(other), tmp_path, pictures=PictureRequests(shop, NOW, number))
    assert request_missing(shop=shop, now=NOW) == 3
    take_up_all(shop)
    found = PictureFetch.objects.values_list("media__source_url", "product_import")
    assert set(found) == {(ONE, None), (TWO, None), (THREE, None), (FOUR, number)}


def test_addresses_of_earlier_imports_can_be_requested_later(shop, other_shop, tmp_path):
    for each in (shop, other_shop):
        imported(each, as_lines(SHIRT), tmp_path)
    Media.objects.filter(shop=shop, source_url=ONE).update(file="products/own.png", width=1, height=1)
    assert request_missing(shop=shop, now=NOW) == 2
    assert requests(shop) == [TWO, THREE]
    assert requests(other_shop) == []
    assert request_missing(shop=shop, now=NOW) == 0


def test_failed_pictures_are_requested_again_and_that_is_in_the_audit_log(shop, other_shop, tmp_path):
    for each in (shop, other_shop):
        with_pictures(each, as_lines(SHIRT), tmp_path)
        take_up_all(each)
        PictureFetch.objects.filter(media__source_url=TWO).update(state="failed", attempts=6, reason="No.")
    assert retry_failed(shop=shop, now=NOW) == 1
    assert requests(shop) == [ONE, TWO, THREE]
    assert PictureFetch.objects.get(shop=shop, media__source_url=TWO).attempts == 0
    assert PictureFetch.objects.get(shop=other_shop, media__source_url=TWO).state == "failed"
    assert AuditEntry.objects.get(shop=shop, action="pictures.retried").after == {"pictures": 1}
    assert retry_failed(shop=shop, now=NOW) == 0
    assert AuditEntry.objects.filter(action="pictures.retried").count() == 1
