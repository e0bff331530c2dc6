"""Pages are compressed for browsers that accept that; lengths of pages with secrets say nothing."""

import gzip

import pytest
from django.http import FileResponse, HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import Client

from storefront.catalogue.models import Product
from storefront.server.compression import PageCompression
from tests.catalogue.factories import make_product
from tests.shops.factories import make_token
from tests.staff import admin_url

GZIP = {"accept-encoding": "gzip, deflate, br"}
LONG = b"<p>Mug</p>" * 200


@pytest.fixture
def visitor(shop) -> Client:
    return Client(headers={"host": shop.domain})


def answered(rf, response, accepts="gzip", method="get"):
    request = getattr(rf, method)("/", headers={"accept-encoding": accepts} if accepts else None)
    return PageCompression(lambda _request: response)(request)


def test_a_shops_page_is_the_same_compressed(shop, visitor):
    for number in range(20):
        make_product(shop, f"Mug {number}")
    plain, packed = visitor.get("/products"), visitor.get("/products", headers=GZIP)
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 3
    assert packed["Content-Encoding"] == "gzip"
    assert int(packed["Content-Length"]) == len(packed.content)
    assert "Content-Encoding" not in plain
    # A cache between keeps both apart, and still those of different shoppers.
    for page in (plain, packed):
        assert {"Accept-Encoding", "Cookie"} <= {each.strip() for each in page["Vary"].split(",")}
        assert page["Content-Type"] == "text/html; charset=utf-8"


def test_the_admin_and_error_pages_are_compressed(desk, visitor, shop):
    make_product(shop, "Mug")
    page = desk.get(admin_url(Product, "changelist"), headers=GZIP)
    assert b"Mug" in gzip.decompress(page.content)
    missing = visitor.get("/products/nothing", headers=GZIP)
    assert missing.status_code == 404
    assert missing["Content-Encoding"] == "gzip"


def test_the_same_page_has_many_lengths(rf):
    """Otherwise its length would say whether a guess in its address matches a secret in its body (BREACH)."""
    lengths = {len(answered(rf, HttpResponse(LONG)).content) for _ in range(200)}
    assert len(lengths) > 30


@pytest.mark.parametrize("accepts", ["", "identity", "br", "gzip;q=0", "gzip;q=0.0, br"])
def test_who_does_not_accept_gzip_gets_the_page_as_it_is(rf, accepts):
    page = answered(rf, HttpResponse(LONG), accepts)
    assert page.content == LONG
    assert page["Vary"] == "Accept-Encoding"
    assert not page.has_header("Content-Encoding")


def test_what_is_small_or_compressed_already_stays_as_it_is(rf, tmp_path):
    (tmp_path / "cup.webp").write_bytes(LONG)
    for response in (
        HttpResponse(b"short"),
        HttpResponse(LONG, content_type="application/pdf"),
        HttpResponse(LONG, content_type="image/webp"),
        HttpResponse(LONG, headers={"Content-Encoding": "br"}),
        StreamingHttpResponse([LONG], content_type="text/csv"),
        FileResponse((tmp_path / "cup.webp").open("rb")),
        HttpResponse(status=304),
    ):
        before = dict(response.headers)
        page = answered(rf, response)
        assert dict(page.headers) == before
        assert (b"".join(page) if page.streaming else page.content) in (LONG, b"short", b"")


def test_an_etag_says_no_longer_that_every_byte_is_the_same(rf):
    page = answered(rf, HttpResponse(LONG, headers={"ETag": '"abc"'}))
    assert page["ETag"] == 'W/"abc"'
    assert answered(rf, HttpResponse(LONG, headers={"ETag": '"abc"'}), "br")["ETag"] == '"abc"'


def test_json_of_pages_is_compressed(rf):
    page = answered(rf, JsonResponse({"found": ["Mug"] * 500}))
    assert page["Content-Encoding"] == "gzip"


def test_sitemaps_are_compressed(shop, visitor):
    for number in range(30):
        make_product(shop, f"Mug {number}")
    sitemap = visitor.get("/sitemap-1.xml", headers=GZIP)
    assert b"/products/mug-29" in gzip.decompress(sitemap.content)


def test_the_api_is_left_to_the_edge_with_its_strong_etags(shop, client):
    make_product(shop, "Mug", description="Blue. " * 500)
    caller = {"authorization": f"Bearer {make_token(shop, 'read_products')}"}
    page = client.get("/api/v1/products", headers=GZIP | caller)
    assert not page.has_header("Content-Encoding")
    assert page["ETag"].startswith('"')
    assert client.get("/api/v1/products", headers=GZIP | caller | {"if-none-match": page["ETag"]}).status_code == 304
