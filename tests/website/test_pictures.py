import os
import subprocess
import sys
from datetime import timedelta
from io import BytesIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django_tasks_db.models import DBTaskResult
from PIL import Image, ImageFile

from storefront.catalogue.media import thumbnails
from storefront.catalogue.models import Media, WantedThumbnails
from storefront.kit import clock
from storefront.kit.files import pictures as kit_pictures
from storefront.kit.storage import StorageUnavailable
from storefront.website import pictures
from tests.catalogue.factories import make_category, make_product
from tests.staff import make_staff, open_desk
from tests.worker import run_due_tasks

# Some tests run the worker, which closes its database connections.
pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


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
    thumbnails.clear_cache()


def put(media: Media, content: bytes) -> None:
    """Replace the file's content, as if it had always been there."""
    media.file.storage.delete(media.file.name)
    media.file.storage.save(media.file.name, ContentFile(content))


def drawn(width: int, height: int, kind: str = "PNG", mode: str = "RGB", **options) -> bytes:
    file = BytesIO()
    Image.new(mode, (width, height)).save(file, kind, **options)
    return file.getvalue()


def test_shows_a_thumbnail_of_an_upload_from_the_visitors_host(shop, uploaded, page, visitor):
    page("/products")
    run_due_tasks()
    listing = page("/products")
    address = listing.split('<img src="')[1].split('"')[0]
    assert address.startswith("/media/thumbnails/")
    small = Image.open(BytesIO(b"".join(visitor.get(address).streaming_content)))
    assert max(small.size) == pictures.CARD
    assert not WantedThumbnails.objects.exists()


def test_names_no_thumbnail_before_all_are_made(shop, uploaded, monkeypatch):
    """While the worker stores one after another."""
    storage = FileSystemStorage()
    url, stored = storage.url(uploaded.file.name), []
    save = FileSystemStorage.save

    def save_and_look(self, name, content, max_length=None):
        found = save(self, name, content, max_length)
        stored.append(found)
        for side in thumbnails.SIDES:
            shown = pictures.picture(shop, url, side)
            assert (shown.url == url) == (len(stored) < len(thumbnails.SIDES)), (side, stored)
        return found

    monkeypatch.setattr(FileSystemStorage, "save", save_and_look)
    thumbnails.make(uploaded.file.name)
    assert len(stored) == len(thumbnails.SIDES)


def test_shows_a_small_original_until_its_thumbnail_exists(shop, uploaded, page):
    assert f'<img src="/media/{uploaded.file.name}"' in page("/products")


def test_no_page_decodes_a_picture(shop, uploaded, page, monkeypatch):
    def unpacked(_image):
        raise AssertionError("a picture was unpacked")

    monkeypatch.setattr(Image.Image, "load", unpacked)
    monkeypatch.setattr(ImageFile.ImageFile, "load", unpacked)
    for path in ("/", "/products", "/products/cup"):
        page(path)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_large_existing_original_is_neither_shown_nor_decoded(shop, uploaded, page):
    put(uploaded, drawn(12_000, 12_000, mode="1"))
    assert f'src="/media/{uploaded.file.name}"' not in page("/products/cup")
    run_due_tasks()
    assert "12000 x 12000 pixels; at most 40 million are allowed" in WantedThumbnails.objects.get().problem
    assert f'src="/media/{uploaded.file.name}"' not in page("/products")


def test_requests_a_thumbnail_once_for_all_visitors(shop, uploaded, page):
    for _ in range(3):
        page("/products")
        # Like another process, which does not share the first one's memory.
        thumbnails.clear_cache()
    assert DBTaskResult.objects.count() == 1


def test_a_failed_thumbnail_is_tried_again_a_day_later(shop, uploaded, page, time_machine):
    put(uploaded, b"not a picture")
    page("/products")
    run_due_tasks()
    page("/products")
    assert DBTaskResult.objects.count() == 1
    time_machine.move_to(clock.now() + timedelta(days=1, minutes=1))
    thumbnails.clear_cache()
    page("/products")
    assert DBTaskResult.objects.count() == 2


@pytest.mark.parametrize("content", [b"not a picture", drawn(1200, 900)[:1000], b""])
def test_an_invalid_picture_file_does_not_break_the_page(shop, uploaded, page, content):
    put(uploaded, content)
    page("/products")
    run_due_tasks()
    page("/products/cup")
    assert WantedThumbnails.objects.get().problem


def test_the_admin_explains_a_picture_that_cannot_be_shown(shop, uploaded, page):
    desk = open_desk(make_staff(shop))
    admin_page = f"/admin/catalogue/product/{uploaded.product_id}/change/"
    said = "the file is damaged or incomplete. Open it in a picture editor, save it again"
    assert said not in desk.get(admin_page).content.decode()
    put(uploaded, drawn(1200, 900, "JPEG")[:9000])
    page("/products")
    run_due_tasks()
    assert said in desk.get(admin_page).content.decode()


def test_a_missing_picture_file_does_not_break_the_page(shop, uploaded, page):
    uploaded.file.storage.delete(uploaded.file.name)
    page("/products")
    run_due_tasks()
    assert WantedThumbnails.objects.get().problem == "is not in the file storage"


def test_thumbnails_are_requested_again_after_the_storage_was_away(shop, uploaded, page, monkeypatch):
    def fail(_name: str) -> None:
        raise StorageUnavailable("timed out")

    page("/products")
    with monkeypatch.context() as patch:
        patch.setattr(thumbnails, "make", fail)
        run_due_tasks()
    thumbnails.clear_cache()
    page("/products")
    run_due_tasks()
    assert "/media/thumbnails/" in page("/products")


def test_a_category_banner_gets_a_thumbnail_too(shop, page):
    category = make_category(shop, "Cups")
    category.banner.save("banner.png", ContentFile(drawn(3000, 100)))
    page("/categories/cups")
    run_due_tasks()
    assert "/media/thumbnails/categories/" in page("/categories/cups")


@pytest.mark.parametrize(
    "content",
    [
        drawn(900, 600, "JPEG"),
        drawn(900, 600, "JPEG", mode="CMYK"),
        drawn(900, 600, "PNG", mode="P"),
        drawn(900, 600, "PNG", mode="LA"),
        drawn(900, 600, "PNG", mode="I;16"),
        drawn(900, 600, "WEBP", mode="RGBA"),
        drawn(900, 600, "GIF", mode="P"),
        drawn(900, 600, "GIF", save_all=True, append_images=[Image.new("RGB", (900, 600), "red")] * 30),
        drawn(900, 600, "JPEG", icc_profile=b"x" * 1_000_000),
    ],
)
def test_thumbnails_of_any_picture_are_small(content):
    found = kit_pictures.small_versions(BytesIO(content), [150, 480])
    for side, small in found.items():
        image = Image.open(BytesIO(small))
        assert (image.format, image.size, getattr(image, "n_frames", 1)) == ("WEBP", (side, side * 2 // 3), 1)
        assert len(small) < 5000


def test_a_thumbnail_respects_the_exif_orientation():
    exif = Image.Exif()
    exif[0x0112] = 6
    found = kit_pictures.small_versions(BytesIO(drawn(900, 600, "JPEG", exif=exif)), [300])
    assert Image.open(BytesIO(found[300])).size == (200, 300)


DRAW = (
    "import sys; from PIL import Image; Image.new('RGBA', ({0}, {0})).save('large.webp', 'WEBP', quality=1, method=0)"
)
# VmHWM, since ru_maxrss would be at least the peak of the process that runs the tests.
MEASURE = """
from pathlib import Path
from storefront.kit.files import pictures
try:
    pictures.small_versions(open("large.webp", "rb"), [1600, 1000, 480, 160])
except pictures.Unusable as problem:
    print(problem)
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024)
"""


@pytest.mark.parametrize(("side", "said"), [(5120, []), (6300, ["at most 26 million"])])
def test_decoding_takes_no_more_memory_than_documented(tmp_path, side, said):
    def run(program: str) -> list[str]:
        given = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": os.getcwd()}, "check": True}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, **given)
        return done.stdout.splitlines()

    run(DRAW.format(side))
    *problems, peak = run(MEASURE)
    assert int(peak) < kit_pictures.MAX_MEMORY_BYTES + 100 * 1024**2
    assert len(problems) == len(said)
    assert all(part in problem for part, problem in zip(said, problems, strict=True))


@pytest.mark.parametrize("content", [drawn(20, 20, "TIFF"), drawn(20, 20, "BMP"), b"%!PS-Adobe-3.0 EPSF-3.0\n"])
def test_opens_only_formats_that_browsers_show(content):
    with pytest.raises(kit_pictures.Unusable, match="is not a PNG, JPEG, WebP or GIF picture"):
        kit_pictures.open_picture(BytesIO(content))


def test_an_external_picture_keeps_its_url(shop):
    found = pictures.picture(shop, "https://cdn.example.com/a.jpg", pictures.CARD, "A")
    assert found.url == "https://cdn.example.com/a.jpg"


def test_no_url_is_no_picture(shop):
    assert pictures.picture(shop, None, pictures.CARD) is None
