"""Pictures between their upload and the product that they are saved with: kept while a form is corrected, never
another shop's, and swept after a day."""

from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from storefront.catalogue.media import uploaded as uploaded_pictures
from storefront.catalogue.models import Media, Product, UploadedPicture
from storefront.kit import clock
from tests.catalogue.factories import make_product, make_variant
from tests.catalogue.test_admin_pictures import drawn
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

UPLOAD = "admin:catalogue_product_upload_picture"
ONE = {"media__TOTAL_FORMS": 1, "media__0__sort_order": 0}


@pytest.fixture(autouse=True)
def _storage(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def png(name: str = "cup.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, drawn(30, 20), "image/png")


def upload(desk, file) -> dict:
    return desk.post(reverse(UPLOAD), {"file": file} if file else {}).json()


@pytest.mark.slow
def test_a_picture_outlives_a_refused_form_and_becomes_the_products_and_a_variants(desk, shop):
    product = make_product(shop, "Cup")
    variant = make_variant(product, "Blue")
    sent = upload(desk, png())
    assert default_storage.exists("products/cup.png")
    given = {**ONE, "media__0__stored": sent["stored"], "media__0__alt": "A cup", "variants__0__picture": "new-0"}
    page = desk.fill(product, price="nothing", **given).content.decode()
    assert sent["stored"] in page
    assert f'src="{sent["url"]}"' in page
    assert 'value="A cup"' in page
    assert desk.fill(product, **given).status_code == 302
    media = product.media.get()
    variant.refresh_from_db()
    assert (media.file.name, media.width, media.height, media.alt) == ("products/cup.png", 30, 20, "A cup")
    assert variant.image == media
    assert not UploadedPicture.objects.exists()
    # It is one picture: the form sent again does not make another.
    again = desk.fill(product, media__TOTAL_FORMS=2, media__1__sort_order=1, media__1__stored=sent["stored"])
    assert "no longer stored" in again.content.decode()
    assert Media.objects.count() == 1


@pytest.mark.slow
def test_a_picture_that_comes_with_the_form_is_kept_too(desk, shop):
    answer = desk.fill(Product, name="", **ONE, media__0__file=png())
    assert answer.status_code == 200
    stored = uploaded_pictures.token_of(UploadedPicture.objects.get())
    assert stored.split(":")[0] in answer.content.decode()


def test_what_is_no_picture_is_refused_by_name_and_not_kept(desk, shop):
    assert upload(desk, SimpleUploadedFile("cup.png", b"<script>")) == {
        "problem": "cup.png is not a PNG, JPEG, WebP or GIF picture, or is damaged."
    }
    assert upload(desk, None) == {"problem": "Choose a picture."}
    assert not UploadedPicture.objects.exists()
    assert open_desk(make_staff(shop, "rita", "read_only")).get(reverse(UPLOAD)).status_code == 403


@pytest.mark.slow
def test_another_shops_upload_cannot_be_taken(desk, shop, other_shop):
    theirs = upload(open_desk(make_staff(other_shop, "olga")), png())
    answer = desk.fill(make_product(shop, "Cup"), **ONE, media__0__stored=theirs["stored"])
    assert "no longer stored" in answer.content.decode()
    answer = desk.fill(make_product(shop, "Cup 2"), **ONE, media__0__stored="1")
    assert "no longer stored" in answer.content.decode()
    assert not Media.objects.exists()


@pytest.mark.slow
def test_what_nobody_saved_is_swept_after_a_day_and_what_was_saved_stays(desk, shop):
    product = make_product(shop, "Cup")
    desk.fill(product, **ONE, media__0__stored=upload(desk, png("kept.png"))["stored"])
    upload(desk, png("left.png"))
    now = clock.now()
    day = uploaded_pictures.KEPT
    assert uploaded_pictures.delete_old_pictures(now=now + day - timedelta(minutes=1), limit=9) == 0
    assert uploaded_pictures.delete_old_pictures(now=now + day + timedelta(minutes=1), limit=9) == 1
    assert default_storage.exists("products/kept.png")
    assert not default_storage.exists("products/left.png")


def test_whoever_comes_second_gets_nothing(shop):
    """A form and the sweep, or two forms, may want a picture at once: the row's deletion decides."""
    uploaded = uploaded_pictures.store_picture(shop=shop, file=png(), now=NOW)
    product = make_product(shop, "Cup")
    assert uploaded_pictures.take_over(uploaded, Media(shop=shop, product=product))
    assert not uploaded_pictures.take_over(uploaded, Media(shop=shop, product=product))
    assert not uploaded_pictures._is_deleted(uploaded)
    assert default_storage.exists(str(uploaded.file.name))
