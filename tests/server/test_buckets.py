"""Files in S3 instead of the data directory, for web processes and workers on different machines."""

import gzip
import io
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import requests
from aiohttp import web
from django.core.exceptions import SuspiciousOperation
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from storefront.kit.files.s3 import S3Files
from storefront.kit.storage import StorageUnavailable
from tests.receiver import receiving
from tests.server.buckets import KEYS, MEDIA, PRIVATE, Buckets, buckets
from tests.server.merchants import SIGN_IN, Merchant
from tests.server.programs import free_port, is_listening, running, storefront, wait_until
from tests.server.test_kills import shell

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

SET_UP = f"""
import json
from tests.shops.factories import make_shop, make_token
shop = make_shop("localhost", base_url="http://localhost:PORT")
{SIGN_IN}
print(json.dumps([make_token(shop), session]))
"""


@pytest.fixture(scope="module")
def stored() -> Iterator[Buckets]:
    with buckets() as found:
        yield found


def png(side: int, colour: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (side, side), colour).save(file, "PNG")
    return file.getvalue()


def files_in(directory: Path) -> list[str]:
    return [str(path) for name in ("media", "private") for path in (directory / name).rglob("*") if path.is_file()]


@dataclass
class Machines:
    """One with a web process at `url`, another with a worker: each has its own data directory."""

    url: str
    merchant: Merchant
    api: dict[str, str]
    worker: subprocess.Popen
    directories: list[Path]

    def ask(self, path: str) -> requests.Response:
        return requests.get(self.url + path, headers=self.api, timeout=60)

    def until(self, condition: Callable[[], Any]) -> Any:
        return wait_until(condition, what=condition.__name__, process=self.worker)


@pytest.fixture
def machines(deployment, stored, tmp_path_factory) -> Iterator[Machines]:
    here, elsewhere = Path(deployment["STOREFRONT_DATA_DIR"]), tmp_path_factory.mktemp("elsewhere")
    port = free_port()
    environment = {
        "DATABASE_URL": f"sqlite:///{here}/storefront.sqlite3",
        **deployment,
        **stored.environment,
        "SECRET_KEY": "x" * 32,
        "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    ((token, session),) = shell(SET_UP.replace("PORT", str(port)), **environment)
    there = environment | {"STOREFRONT_DATA_DIR": str(elsewhere)}
    serve = running("serve", "--port", str(port), "--threads=2", "--no-worker", log=here / "web.log", **environment)
    with serve as server, running("worker", log=elsewhere / "worker.log", **there) as worker:
        wait_until(lambda: is_listening(port), what="the server", process=server)
        api = {"Authorization": f"Bearer {token}"}
        yield Machines(f"http://localhost:{port}", Merchant(port, session), api, worker, [here, elsewhere])


def test_web_and_worker_share_files_without_a_common_directory(machines, stored):
    async def send_picture(_request: web.Request) -> web.Response:
        return web.Response(body=png(700, "red"), content_type="image/png")

    with receiving(send_picture) as receiver:
        cup = {"name": "Cup", "sku": "C1", "price": "1.00", "status": "active"}
        cup["media"] = [{"url": f"{receiver.url}/a.png"}]
        machines.merchant.upload_products(json.dumps(cup).encode())
        see_fetched_picture(machines)
    see_uploaded_picture(machines, stored)
    see_export(machines, stored)
    assert [file for directory in machines.directories for file in files_in(directory)] == []


def see_fetched_picture(machines: Machines) -> None:
    """The imported product's picture, and its thumbnails."""

    def picture() -> str | None:
        answer = machines.ask("/api/v1/products/cup")
        media = answer.json()["data"]["media"] if answer.ok else []
        return media[0]["url"] if media and media[0]["url"].startswith(machines.url) else None

    original = requests.get(machines.until(picture), timeout=60)
    assert (original.status_code, original.headers["Content-Type"]) == (200, "image/png")
    assert (original.content, original.headers["X-Content-Type-Options"]) == (png(700, "red"), "nosniff")

    def thumbnails() -> list[str]:
        found = re.search(r'srcset="([^"]*)"', machines.ask("/products/cup").text)
        return [each.split()[0] for each in unescape(found[1]).split(",")] if found else []

    for path in machines.until(thumbnails):
        thumbnail = machines.ask(path)
        assert (thumbnail.status_code, thumbnail.headers["Content-Type"]) == (200, "image/webp")


def see_uploaded_picture(machines: Machines, stored: Buckets) -> None:
    image = {"image": ("cups.png", png(900, "blue"), "text/html")}
    fields = {"name": "Cups", "slug": "cups", "sort_order": "0", "is_active": "on"}
    page = machines.merchant.send("/admin/catalogue/category/add/", image, **fields)
    assert "/add/" not in page.url, page.text
    (name,) = [name for name in stored.names(MEDIA) if name.startswith("categories/")]
    head = stored.client.head_object(Bucket=MEDIA, Key=name)
    assert (head["ContentType"], head["CacheControl"]) == ("image/png", "public, max-age=86400")


def see_export(machines: Machines, stored: Buckets) -> None:
    """An export that the worker makes is downloaded, and one whose file is gone says so."""
    started = requests.post(
        f"{machines.url}/api/v1/exports", json={"kind": "products"}, headers=machines.api, timeout=60
    )

    def export() -> str | None:
        return machines.ask(f"/api/v1/exports/{started.json()['data']['id']}").json()["data"]["url"]

    link = machines.until(export)
    lines = gzip.decompress(requests.get(link, timeout=60).content).splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["Cup"]
    (name,) = stored.names(PRIVATE)
    assert name.startswith("exports/")
    stored.client.delete_object(Bucket=PRIVATE, Key=name)
    gone = requests.get(link, timeout=60)
    assert (gone.status_code, "Please start the export again." in gone.text) == (404, True)


def files(bucket: str, stored: Buckets, **given) -> S3Files:
    id, secret, region = KEYS.values()
    endpoint = given.pop("endpoint_url", stored.environment["AWS_ENDPOINT_URL_S3"])
    return S3Files(
        bucket_name=bucket, access_key=id, secret_key=secret, region_name=region, endpoint_url=endpoint, **given
    )


def test_every_file_has_a_name_of_its_own_and_no_private_file_has_a_url(stored):
    private = files(PRIVATE, stored)
    first, second = (private.save("imports/products.csv", ContentFile(content)) for content in (b"ours", b"theirs"))
    assert first != second
    assert (private.open(first).read(), private.open(second).read()) == (b"ours", b"theirs")
    with pytest.raises(ValueError, match="no URL"):
        private.url(first)
    grants = stored.client.get_object_acl(Bucket=PRIVATE, Key=first)["Grants"]
    assert [grant["Permission"] for grant in grants if "URI" in grant["Grantee"]] == []
    for name in (first, second):
        private.delete(name)
        with pytest.raises(FileNotFoundError):
            private.open(name)


def test_what_is_no_picture_is_a_download_also_at_the_bucket(stored):
    media = files(MEDIA, stored, base_url="https://cdn.example.com/", file_overwrite=True)
    upload = SimpleUploadedFile("a b.svg", b"<svg/>", content_type="image/png")
    name = media.save("drawings/a b.svg", upload)
    assert (name, media.url(name)) == ("drawings/a b.svg", "https://cdn.example.com/drawings/a%20b.svg")
    head = stored.client.head_object(Bucket=MEDIA, Key=name)
    assert (head["ContentType"], head["ContentDisposition"]) == ("image/svg+xml", "attachment")


@pytest.mark.parametrize("name", ["../secret-key", "a/../../b", ".", "a\0b", "a" * 1025])
def test_no_name_leads_out_of_the_bucket(stored, name):
    with pytest.raises((SuspiciousOperation, FileNotFoundError)):
        files(MEDIA, stored).open(name)


@pytest.mark.django_db
def test_pictures_are_unavailable_while_the_bucket_does_not_answer(stored, settings, client):
    away = {"bucket_name": MEDIA, "endpoint_url": f"http://127.0.0.1:{free_port()}", "base_url": "/media/"}
    given = away | dict(zip(("access_key", "secret_key", "region_name"), KEYS.values(), strict=True))
    settings.STORAGES = settings.STORAGES | {
        "default": {"BACKEND": "storefront.kit.files.s3.S3Files", "OPTIONS": given}
    }
    with pytest.raises(StorageUnavailable):
        default_storage.save("a.png", ContentFile(b"x"))
    client.raise_request_exception = False
    answer = client.get("/media/products/a.png")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")


def test_a_bucket_that_cannot_be_used_is_refused_at_the_start(deployment, stored):
    given = deployment | stored.environment
    missing = storefront("worker", **given | {"STOREFRONT_S3_PRIVATE_BUCKET": "nowhere"})
    assert missing.returncode == 1
    assert missing.stderr.startswith("storefront: The bucket nowhere cannot be used: ")
    assert "Traceback" not in missing.stderr


def test_a_download_in_a_bucket_is_sent_by_the_bucket(deployment, stored):
    """By an address that is signed, for a minute, and says how the file is sent."""
    made = shell(SELL, **deployment, **stored.environment, SECRET_KEY="x" * 32)
    ((status, location, used, other),) = made
    assert (status, used) == (302, 1)
    assert "X-Amz-Expires=60" in location
    answer = requests.get(location, timeout=60)
    assert (answer.status_code, answer.content) == (200, b"a book" * 100)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    part = requests.get(location, headers={"Range": "bytes=2-5"}, timeout=60)
    assert (part.status_code, part.content) == (206, b"book")
    assert other == 410


SELL = """
import json
from django.test import Client
from storefront.kit import clock
from storefront.payments import actions
from storefront.orders.download_links import download_token
from storefront.orders.models import Download
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file
from tests.shops.factories import make_shop
shop = make_shop("books.example.com")
product = make_product(shop, "Book", max_downloads=1)
add_file(product, "book.html", b"a book" * 100)
order = make_order(shop, sale_line(product), now=clock.now())
actions.mark_paid(shop=shop, order=order, now=clock.now())
path = f"/downloads/{download_token(order.downloads.get())}"
shopper = Client(headers={"host": shop.domain})
answer = shopper.get(path)
used = Download.objects.get().used
print(json.dumps([answer.status_code, answer["Location"], used, shopper.get(path).status_code]))
"""
