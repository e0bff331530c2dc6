"""Whatever a stranger sends to any page of any host, and staff to the admin's, no answer is a 500: every handler is
called with odd paths, queries, headers and forms. test_api_schema.py walks the API's operations; test_admin_hostile.py
has the admin's odd ids, lists and tables, chosen by hand."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from storefront.shops import places
from storefront.shops.models import User
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import make_order
from tests.staff import open_desk

pytestmark = [pytest.mark.generated, pytest.mark.proof, pytest.mark.timeout(900)]

# Values for the parts of a path, by kind of converter. A part can be anything that no slash ends.
ODD = [
    *("0", "1", "-1", "1.5", "9" * 21, "9" * 5000, "a" * 300, "a" * 5000, "\x00", "a\x00b", " ", "%", "%25", "%00"),
    *("..", "../..", ".", "a/b", "a//b", "\\", "<script>", "'\"", "😀", "\ud800", "\u202e", "None", "null", "²", "٣"),
    *("{}", "[]", "a:b", "a=b&c", ";", "\r\n", "00000000-0000-0000-0000-000000000000", "xn--mnchen-3ya", "é" * 200),
]
FORM = "application/x-www-form-urlencoded"
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
HEADERS = {
    "Accept": ODD,
    "Accept-Encoding": ["gzip;q=abc", "*;q=9", "gzip," * 2000, *ODD],
    "Accept-Language": ["de;q=abc", "de," * 3000, *ODD],
    "Authorization": ["Bearer", "Bearer \x00", "Basic " + "a" * 3000, *ODD],
    "Content-Type": ["text/plain; charset=nothing", "multipart/form-data; boundary=\x00", "a" * 9000],
    "Cookie": ["a", "=", ";" * 3000, "storefront_session=\x00", "storefront_csrf=" + "a" * 5000, *ODD],
    "If-None-Match": ['W/"', '"' * 3000, *ODD],
    "If-Modified-Since": ["yesterday", *ODD],
    "Origin": ["null", "https://", "https://[", *ODD],
    "Range": ["bytes=9-1", "bytes=-", "bytes=" + "0-1," * 3000, *ODD],
    "Referer": ["https://[", "https://a:b:c", *ODD],
    "Sec-Fetch-Site": ["cross-site", *ODD],
    "X-Forwarded-For": ["1.2.3.4," * 3000, "[::1", *ODD],
    "X-Forwarded-Proto": ["https,http", *ODD],
    "X-Requested-With": ODD,
}


def routes_of(place: str) -> list[str]:
    def leaves(found: list[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
        for each in found:
            if isinstance(each, URLResolver):
                yield from leaves(each.url_patterns, prefix + str(each.pattern))
            else:
                yield prefix + str(each.pattern), each

    found = leaves(get_resolver(places.urlconf_of(place)).url_patterns)
    return sorted({route for route, _ in found if not route.startswith(("api/v1", "api/apps"))})


def parts(route: str) -> list[str]:
    """The route in pieces: texts, and parameters such as `<uuid:public_id>`."""
    return re.split(r"(<[^>]+>)", route.replace("^", "").replace("$", ""))


text = st.sampled_from(ODD) | st.text(max_size=40)
queries = st.dictionaries(
    st.sampled_from(["q", "page", "sort", "category", "code", "next", "token", "brand", "min_price", "\x00"]) | text,
    text | st.lists(text, max_size=3),
    max_size=4,
)


@pytest.fixture
def visitors(shop, other_shop) -> dict[str, Client]:
    """A stranger, a shopper with a basket and a checkout, and one who is signed in, at the shop's host."""
    mug = make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    make_variant(mug)
    make_media(mug)
    make_order(shop)
    make_customer(shop)
    stranger, buyer, member = (Shopper(shop, shows_errors=False) for _ in range(3))
    buyer.post("/basket/add", {"product": mug.pk, "qty": "1"})
    buyer.fill_details()
    member.sign_in()
    return {"stranger": stranger.browser, "buyer": buyer.browser, "member": member.browser}


# Examples of each of the admin's routes, of which there are hundreds.
ADMIN_EXAMPLES = 10


def ask(client: Client, route: str, prefix: str = "") -> None:
    most = examples().max_examples
    count = min(most, ADMIN_EXAMPLES) if route.startswith("admin/") else most

    @examples(suppress_health_check=list(HealthCheck), max_examples=count)
    @given(data=st.data())
    def try_out(data: st.DataObject) -> None:
        pieces = [odd(data.draw(text, label="part")) if part.startswith("<") else part for part in parts(route)]
        method = data.draw(st.sampled_from(METHODS), label="method")
        address = f"{prefix}/{''.join(pieces)}?{encoded(data.draw(queries, label='query'))}"
        body = encoded(data.draw(queries, label="form")) if method == "POST" else ""
        name = data.draw(st.sampled_from(sorted(HEADERS)), label="header")
        value = data.draw(st.sampled_from(HEADERS[name]), label="value").encode("utf-8", "replace").decode("latin-1")
        answer = client.generic(method, address, body, FORM, headers={name: value})
        assert answer.status_code < 500, (method, address[:300], name, value[:100])

    try_out()


@pytest.mark.parametrize("who", ["stranger", "buyer", "member"])
def test_no_request_to_a_deployment_on_one_host_causes_an_error(visitors, who):
    for route in routes_of(places.SINGLE):
        if not route.startswith("admin/"):
            ask(visitors[who], route)


@pytest.mark.parametrize("place", [places.SHOP, places.SECURE, places.ADMIN, "files"])
def test_no_request_to_a_deployment_on_several_hosts_causes_an_error(visitors, shop, apart, settings, place):
    host = {places.SECURE: settings.SECURE_HOST, places.ADMIN: settings.ADMIN_HOST}.get(place, shop.domain)
    client = Client(raise_request_exception=False, headers={"host": "cdn.example.com" if place == "files" else host})
    for route in routes_of(place):
        ask(client, route, f"/{shop.domain}" if place == places.SECURE else "")


def encoded(given: dict[str, Any]) -> str:
    pairs = [(name, each) for name, value in given.items() for each in (value if isinstance(value, list) else [value])]
    return "&".join(f"{odd(name)}={odd(value)}" for name, value in pairs)


def odd(given: str) -> str:
    return quote(given.encode("utf-8", "surrogatepass"), safe="")


# The routes in parts, since there are hundreds.
@pytest.mark.parametrize("part", range(8))
def test_no_request_of_staff_to_the_admin_causes_an_error(visitors, shop, part):
    """The operator may open every page. Each route gets a sign-in of its own, as some requests end it."""
    operator = User.objects.create_superuser("operator", "op@example.com", "lighthouse-1")
    routes = [route for route in routes_of(places.SINGLE) if route.startswith("admin/")]
    assert len(routes) > 100
    for route in routes[part::8]:
        desk = open_desk(operator, shop)
        desk.raise_request_exception = False
        ask(desk, route)
