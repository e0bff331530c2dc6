from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from PIL import Image

from storefront.catalogue.models import Media
from storefront.website import pictures
from tests.catalogue.factories import make_product


@pytest.fixture
def uploaded(shop):
    """A product with an uploaded picture of 1200 by 900 pixels."""
    product = make_product(shop, "Cup")
    file = BytesIO()
    Image.new("RGB", (1200, 900), "#336699").save(file, "PNG")
    media = Media(shop=shop, product=product, alt="A cup")
    media.file.save("cup.png", ContentFile(file.getvalue()))
    return media


@pytest.fixture(autouse=True)
def _own_files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def test_an_uploaded_picture_is_shown_small_from_the_visitor_s_own_host(shop, uploaded, page, visitor):
    listing = page("/products")
    address = listing.split('<img src="')[1].split('"')[0]
    assert address.startswith("/media/thumbnails/")
    small = Image.open(BytesIO(b"".join(visitor.get(address).streaming_content)))
    assert max(small.size) == pictures.TILE


def test_a_file_that_is_no_picture_does_not_break_the_page(shop, uploaded, page):
    uploaded.file.storage.delete(uploaded.file.name)
    uploaded.file.storage.save(uploaded.file.name, ContentFile(b"not a picture"))
    assert f'<img src="/media/{uploaded.file.name}"' in page("/products")


def test_a_picture_from_elsewhere_stays_where_it_is(shop):
    found = pictures.picture(shop, "https://cdn.example.com/a.jpg", pictures.TILE, "A")
    assert found.url == "https://cdn.example.com/a.jpg"


def test_no_picture_is_none(shop):
    assert pictures.picture(shop, None, pictures.TILE) is None
