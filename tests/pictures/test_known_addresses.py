"""A program that still has the address of a picture from before it was fetched changes nothing by sending it."""

import pytest
from django.core.files.base import ContentFile

from tests.catalogue.factories import make_product, make_variant
from tests.factories.apps import install
from tests.pictures.hosts import drawn, requested

ONE, TWO = "https://old.example.com/1.jpg", "https://old.example.com/2.jpg"


@pytest.fixture
def product(shop):
    product = make_product(shop, "Cup")
    for media in requested(shop, ONE, TWO, product=product):
        media.file.save(f"{media.pk}.png", ContentFile(drawn()))
    return product


@pytest.fixture
def app(shop):
    return install(shop, "read_products", "write_products").api


def test_the_old_address_keeps_the_file(product, app):
    before = list(product.media.values())
    row = product.media.first()
    answer = app.patch(f"/products/{product.pk}", {"media": [{"id": row.pk, "url": ONE, "alt": "Front"}]})
    assert answer.status_code == 200, answer.content
    assert list(product.media.values()) == [before[0] | {"alt": "Front"}, before[1]]


def test_another_address_replaces_the_file(product, app):
    row = product.media.first()
    app.patch(f"/products/{product.pk}", {"media": [{"id": row.pk, "url": TWO}]})
    row.refresh_from_db()
    assert (row.source_url, row.file.name) == (TWO, "")


def test_a_variant_can_name_its_picture_by_either(product, app):
    variant = make_variant(product)
    second = product.media.last()
    for url in (TWO, f"{product.shop.base_url}{second.file.url}"):
        variant.image = None
        variant.save()
        answer = app.patch(f"/products/{product.pk}", {"variants": [{"id": variant.pk, "image": url}]})
        assert answer.status_code == 200, answer.content
        variant.refresh_from_db()
        assert variant.image_id == second.pk
