"""What a hostile host of pictures cannot do."""

import asyncio
import io

import pytest
from aiohttp import web
from django.core.files.storage import default_storage
from PIL import Image

from storefront.kit import addresses, outbound
from storefront.kit.files import pictures as kit_pictures
from storefront.pictures import downloading, rules
from tests.pictures.hosts import drawn, fetch_waiting, picture_host, requested, state_of

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning"),
]

NO_PICTURE = "The file is not a PNG, JPEG, WebP or GIF picture, or is damaged."


def files() -> list[str]:
    return default_storage.listdir("products")[0] if default_storage.exists("products") else []


def fetched(shop, answer) -> tuple[str, str]:
    """The state of a picture for which the host gave this answer, and the reason."""
    with picture_host(cup=answer) as host:
        (cup,) = requested(shop, host.url("/cup"))
        fetch_waiting(shop)
    return state_of(cup)


@pytest.fixture
def in_production(settings, monkeypatch) -> None:
    """Only public addresses may be called, and 127.0.0.1, where the test's host is."""
    settings.ALLOW_PRIVATE_CALLBACKS = False
    is_public = addresses.is_public
    for module in (addresses, outbound):
        monkeypatch.setattr(module, "is_public", lambda host: host == "127.0.0.1" or is_public(host))


@pytest.mark.parametrize(
    "target", ["http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "http://localhost/"]
)
def test_a_redirect_into_our_network_is_not_followed(shop, in_production, target):
    async def inwards(_request):
        return web.Response(status=302, headers={"Location": target})

    with picture_host(cup=inwards, mug=drawn()) as host:
        cup, mug = requested(shop, host.url("/cup"), host.url("/mug"))
        fetch_waiting(shop)
    assert state_of(cup) == ("failed", "The URL's host must be public.")
    assert state_of(mug) == ("fetched", "")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "gopher://example.com/", "http://u:p@example.com/"])
def test_a_redirect_to_another_scheme_is_not_followed(shop, target):
    async def elsewhere(_request):
        return web.Response(status=302, headers={"Location": target})

    assert fetched(shop, elsewhere)[0] == "failed"
    assert files() == []


def test_an_endless_file_without_a_length_is_cut_off(shop, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_FILE_BYTES", 2 * 1024**2)
    sent = 0

    async def endless(request):
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Type": "image/png"})
        await response.prepare(request)
        while True:
            await response.write(drawn() + b"x" * 65536)
            sent += 65536

    assert fetched(shop, endless) == ("failed", "The file has more than 2 MiB.")
    assert sent < 20 * 1024**2
    assert files() == []


def test_a_file_that_says_it_is_too_large_is_not_read(shop):
    async def large(request):
        response = web.StreamResponse(headers={"Content-Length": str(kit_pictures.MAX_FILE_BYTES + 1)})
        await response.prepare(request)
        await asyncio.Event().wait()
        return response

    assert fetched(shop, large) == ("failed", "The file has more than 20 MiB.")


def test_a_decompression_bomb_is_refused(shop):
    file = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(file, "PNG")
    assert fetched(shop, file.getvalue()) == (
        "failed",
        "The file has 12000 x 12000 pixels; at most 40 million are allowed.",
    )
    assert files() == []


@pytest.mark.parametrize("content", [b"<html><script>alert(1)</script></html>", b"<svg/>", b"", drawn()[:20]])
def test_the_content_counts_not_the_header(shop, content):
    assert fetched(shop, content) == ("failed", NO_PICTURE)
    assert files() == []


def test_the_name_of_the_file_is_that_of_its_format(shop):
    with picture_host(**{"cup.html": drawn(kind="JPEG")}) as host:
        (cup,) = requested(shop, host.url("/cup.html"))
        fetch_waiting(shop)
    cup.refresh_from_db()
    assert cup.file.name.endswith(".jpg")


@pytest.mark.parametrize(
    ("limit", "reason"),
    [("TOTAL_SECONDS", "No complete response within 0.5 seconds."), ("READ_SECONDS", "Nothing came for 0.5 seconds.")],
)
def test_a_slow_host_does_not_outlast_the_deadline(shop, monkeypatch, limit, reason):
    monkeypatch.setattr(downloading, limit, 0.5)
    content = drawn()

    async def slow(request):
        response = web.StreamResponse(headers={"Content-Length": "100000"})
        await response.prepare(request)
        await response.write(content)
        while limit == "TOTAL_SECONDS":
            await response.write(b"x")
            await asyncio.sleep(0.05)
        await asyncio.Event().wait()
        return response

    assert fetched(shop, slow) == ("waiting", reason)


def test_a_host_that_is_not_there_is_tried_again_later(shop):
    with picture_host() as host:
        url = host.url("/cup")
    (cup,) = requested(shop, url)
    fetch_waiting(shop)
    assert state_of(cup) == ("waiting", "Could not connect.")


def test_the_lease_is_longer_than_the_longest_fetch():
    assert rules.LEASE.total_seconds() > rules.TOTAL_SECONDS
