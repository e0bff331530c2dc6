"""Twice the request costs at most 2.5 times as much, whatever is in its query, headers, cookies, form or JSON."""

from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import pytest

from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.server.costs import MOST, Prepared, growth

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

PIECES = ["a", '"', "<", "a,", "a=1&", "=", ";", "\\", "%", "1.", "é", "a@", "[", "filter.a=1&"]
QUERIES = ["/search?q={}", "/search?{}", "/products?page={}", "/products?brand={}"]
HEADERS = ["Accept", "Accept-Encoding", "Accept-Language", "Cookie", "If-None-Match", "If-Modified-Since", "Referer"]
HEADERS += ["Origin", "X-Forwarded-For"]
FORMS = {
    "/account/sign-in": ("email", "password"),
    "/account/register": ("email",),
    "/contact": ("name", "email", "text"),
    "/basket/add": ("product", "qty", "options"),
    "/checkout": ("first_name", "email", "phone", "postcode", "country", "vat_id"),
    "/basket/code": ("code",),
}
NAMED = '--b\r\nContent-Disposition: form-data; name="a'
PARTS = ["--b\r\n", "--b\r\n\r\n", "\r\n", "-", "\r", "a", f'{NAMED}"\r\n\r\na\r\n']
PARTS += [f'{NAMED}"; filename="a"\r\n\r\na\r\n']
PARTS += [';a="', '\\"', "; a=b", "a: b\r\n", "Content-Transfer-Encoding: base64\r\n"]
JSON = ["[", "{", '{"a":', "[[],", '"', "\\", '"a",', "1,", "0", "1e1,", '{"a":1},', '"a":1,', "\\u0000", " "]


def worse(ask: Callable[[str], object], pieces: list[str], *, largest: int = 1 << 17) -> dict[str, float]:
    """The pieces of which twice as many cost too much."""

    def prepare(piece: str, size: int) -> Prepared:
        return partial(ask, piece * (size // len(piece)))

    # A request that costs nothing for its size still takes some milliseconds.
    found = {
        piece: growth(partial(prepare, piece), first=1 << 13, largest=largest, measurable=0.05) for piece in pieces
    }
    return {piece: times for piece, times in found.items() if times > MOST}


@pytest.fixture
def browser(shop: Shop) -> Shopper:
    make_product(shop, "Mug")
    return Shopper(shop, shows_errors=False)


@pytest.mark.parametrize("path", QUERIES)
def test_a_query_costs_by_its_length(browser, path):
    assert not worse(lambda text: browser.get(path.format(quote(text, safe="=&"))), PIECES)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_costs_by_its_length(browser, name):
    def ask(text: str) -> None:
        browser.get("/", headers={name: text.encode().decode("latin-1")})

    assert not worse(ask, PIECES, largest=1 << 16)


@pytest.mark.parametrize("path", FORMS)
def test_a_form_costs_by_its_length(browser, path):
    def ask(text: str) -> None:
        browser.post(path, dict.fromkeys(FORMS[path], text))

    assert not worse(ask, PIECES, largest=1 << 16)


@pytest.mark.parametrize("before", ["", NAMED, f'{NAMED}"; filename="a"\r\n\r\n'])
def test_a_multipart_body_costs_by_its_length(browser, before):
    def ask(text: str) -> None:
        browser.browser.post("/account/sign-in", before + text, content_type="multipart/form-data; boundary=b")

    assert not worse(ask, PARTS)


@pytest.mark.parametrize("path", ["/cart", "/customers"])
@pytest.mark.parametrize("before", ["", '{"product_id":1,"options":', '{"email":"', '{"product_id":1,"options":{"1":['])
def test_a_json_body_costs_by_its_length(api: ApiClient, path, before):
    given = {"content_type": "application/json", "headers": {"Authorization": f"Bearer {api.token}"}}

    def ask(text: str) -> None:
        api.http.post(f"/api/v1{path}", before + text, **given)

    assert not worse(ask, JSON)
