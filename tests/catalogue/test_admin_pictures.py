"""Uploaded pictures are checked by their first bytes and never unpacked in the web process."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image, ImageFile

from storefront.catalogue.models import Media
from tests.catalogue.factories import make_category, make_product
from tests.staff import Desk, make_staff, open_desk

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")]


@pytest.fixture
def desk(shop, settings, tmp_path) -> Desk:
    settings.MEDIA_ROOT = tmp_path
    return open_desk(make_staff(shop))


@pytest.fixture(autouse=True)
def _nothing_is_unpacked(monkeypatch):
    def unpacked(_image):
        raise AssertionError("a picture was unpacked")

    monkeypatch.setattr(ImageFile.ImageFile, "load", unpacked)


def drawn(width: int, height: int, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, kind)
    return file.getvalue()


REFUSED = [
    (drawn(12_000, 12_000), "bomb.png has 12000 x 12000 pixels; at most 40 million are allowed."),
    (drawn(8_000, 5_001), "bomb.png has 8000 x 5001 pixels; at most 40 million are allowed."),
    (drawn(20, 20, "TIFF"), "bomb.png is not a PNG, JPEG, WebP or GIF picture, or is damaged."),
]


@pytest.mark.parametrize(("content", "said"), REFUSED)
def test_refuses_a_product_picture_and_names_the_file(desk, shop, content, said):
    given = {"media__TOTAL_FORMS": 1, "media__0__sort_order": 0}
    answer = desk.fill(make_product(shop, "Cup"), **given, media__0__file=SimpleUploadedFile("bomb.png", content))
    assert answer.status_code == 200
    found = [form.errors for inline in answer.context_data["inline_admin_formsets"] for form in inline.formset.forms]
    assert {"file": [said]} in found
    assert not Media.objects.exists()


@pytest.mark.parametrize("field", ["image", "banner"])
@pytest.mark.parametrize(("content", "said"), REFUSED)
def test_refuses_a_category_picture_and_names_the_file(desk, shop, field, content, said):
    row = make_category(shop, "Cups")
    answer = desk.fill(row, **{field: SimpleUploadedFile("bomb.png", content)})
    assert answer.context_data["adminform"].errors == {field: [said]}


def test_accepts_a_picture_of_forty_million_pixels(desk, shop):
    product = make_product(shop, "Cup")
    given = {"media__TOTAL_FORMS": 1, "media__0__sort_order": 0}
    content = drawn(8_000, 5_000)
    desk.fill(product, **given, media__0__file=SimpleUploadedFile("large.png", content))
    assert (product.media.get().width, product.media.get().height) == (8_000, 5_000)
