"""A cached response equals Django's: status, headers and bytes."""

import gzip
import json

import pytest
from werkzeug.test import Client, create_environ

from storefront.server.wsgi import Application
from storefront.shops.models import ApiToken
from tests.catalogue.factories import make_category, make_product
from tests.server.edges import EdgeClient, comparable
from tests.shops.factories import make_token

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "Made by hand, of clay from the river. " * 60


@pytest.fixture
def token(shop, other_shop):
    cups = make_category(shop, "Cups")
    for number in range(5):
        make_product(shop, f"Mug {number}", categories=(cups,), description=LONG)
    make_product(other_shop, "Elsewhere")
    return make_token(shop, "read_products")


READS = [
    "/products",
    "/products?per_page=2",
    "/products?per_page=2&page=2",
    "/products?page=9",
    "/products?q=mug&sort=name&unknown=1",
    "/products?q=&featured",
    "/products/mug-1",
    "/categories",
    "/categories/cups",
]
WAYS = {
    "GET": {},
    "gzip": {"Accept_Encoding": "br, GZIP;q=0.5"},
    "no gzip": {"Accept_Encoding": "gzip;q=0, *"},
    "any": {"If_None_Match": "*"},
    "stale": {"If_None_Match": '"other"'},
    "HEAD": {"method": "HEAD"},
    "HEAD gzip": {"method": "HEAD", "Accept_Encoding": "gzip"},
}


@pytest.mark.parametrize("path", READS)
def test_a_cached_response_equals_one_without_a_cache(token, path):
    remembering, asking = EdgeClient(), EdgeClient(capacity=0)
    # In turn, so that each way is the first to be asked once and comes from memory after that.
    for first in WAYS:
        remembering.edge.cache.clear()
        for way in (first, *WAYS):
            given, expected = (each.ask(path, token, **WAYS[way]) for each in (remembering, asking))
            assert comparable(given) == comparable(expected), way
    assert remembering.hits == len(WAYS) ** 2
    assert asking.hits == 0


@pytest.mark.parametrize("path", READS)
def test_a_cached_response_equals_djangos(token, path):
    asked = EdgeClient()
    headers = {"Authorization": f"Bearer {token}"}
    status, expected, body = comparable(Client(Application()).get(f"/api/v1{path}", headers=headers))
    for _ in range(2):
        assert comparable(asked.ask(path, token)) == (status, expected | {"Vary": "Origin, Accept-Encoding"}, body)


def test_gzip_has_the_same_content_and_its_own_etag(token):
    asked = EdgeClient()
    for _ in range(2):
        plain, packed = asked.ask("/products", token), asked.ask("/products", token, Accept_Encoding="gzip")
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == plain.data
        assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data)
        assert packed.headers["ETag"] != plain.headers["ETag"]


@pytest.mark.parametrize("coding", ["", "gzip"])
@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}'])
def test_a_matching_etag_is_a_304(token, coding, form):
    asked = EdgeClient()
    whole = asked.ask("/products", token, Accept_Encoding=coding)
    for _ in range(2):
        answer = asked.ask("/products", token, Accept_Encoding=coding, If_None_Match=form.format(whole.headers["ETag"]))
        assert (answer.status_code, answer.data) == (304, b"")
        assert answer.headers["ETag"] == whole.headers["ETag"]
        assert "Content-Type" not in answer.headers
        asked.edge.cache.clear()


def test_a_304_fills_the_cache_too(token):
    asked = EdgeClient()
    etag = asked.ask("/products", token).headers["ETag"]
    asked.edge.cache.clear()
    assert asked.ask("/products", token, If_None_Match=etag).status_code == 304
    assert asked.is_hit("/products", token)


def test_every_response_has_its_own_id(token):
    asked = EdgeClient()
    assert len({asked.ask("/products", token).headers["X-Request-Id"] for _ in range(4)}) == 4


def test_a_head_has_the_headers_of_a_get_and_no_body(token):
    """Calls the edge directly, since an HTTP client would drop a body by itself."""
    edge = EdgeClient().edge
    for coding in ("", "gzip"):
        answers = {}
        for method in ("GET", "HEAD"):
            headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": coding}
            for of_memory in (False, True):
                asked = create_environ("/api/v1/products", method=method, headers=headers)
                said: list = []
                call = edge.answer_from_memory if of_memory else edge
                body = b"".join(call(asked, lambda *given, said=said: said.append(given)))
                ((status, given, *_),) = said
                answers[method, of_memory] = status, dict(given)["Content-Length"], dict(given)["ETag"]
                assert len(body) == (int(dict(given)["Content-Length"]) if method == "GET" else 0)
        assert len(set(answers.values())) == 1


REFUSED = [
    ("/products", {"Authorization": ""}, 401),
    ("/products", {"Authorization": "Bearer nonsense"}, 401),
    ("/products/nothing", {}, 404),
    ("/products?page=0", {}, 422),
    ("/products?q=%00", {}, 422),
    ("/products/", {}, 404),
]


@pytest.mark.parametrize(("path", "headers", "status"), REFUSED)
def test_refusals_are_never_cached(token, path, headers, status):
    remembering, asking = EdgeClient(), EdgeClient(capacity=0)
    remembering.ask("/products", token)
    for _ in range(2):
        given, expected = (each.ask(path, token, **headers) for each in (remembering, asking))
        assert comparable(given) == comparable(expected)
        assert given.status_code == status
    assert remembering.hits == 0


def test_a_token_without_the_scope_gets_a_403_also_for_cached_responses(shop, token):
    asked, poor = EdgeClient(), make_token(shop, "write_cart")
    asked.ask("/products", token)
    for _ in range(2):
        answer = asked.ask("/products", poor)
        assert (answer.status_code, json.loads(answer.data)["code"]) == (403, "insufficient_scope")


def test_the_rate_limit_counts_cached_responses(shop, token):
    answers = {}
    for name, asked in {"remembering": EdgeClient(), "asking": EdgeClient(capacity=0)}.items():
        limited = make_token(shop, "read_products")
        ApiToken.objects.filter(ending=limited[-4:]).update(requests_per_minute=3)
        answers[name] = [asked.ask("/products", limited) for _ in range(5)]
    for given, expected in zip(answers["remembering"], answers["asking"], strict=True):
        assert comparable(given)[0] == comparable(expected)[0]
        names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "Vary", "Content-Type")
        assert [given.headers.get(name) for name in names] == [expected.headers.get(name) for name in names]
        assert given.headers["X-RateLimit-Reset"]
    assert [answer.status_code for answer in answers["remembering"]] == [200, 200, 200, 429, 429]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://scripts.example.com"},
        {"Authorization": "Bearer {token}, Bearer {token}"},
        {"Transfer_Encoding": "chunked"},
    ],
)
def test_unusual_requests_go_to_django(token, headers):
    asked = EdgeClient()
    asked.ask("/products", token)
    sent = {name: value.format(token=token) for name, value in headers.items()}
    assert not asked.is_hit("/products", token, **sent)


def test_a_read_with_a_body_goes_to_django(token):
    asked = EdgeClient()
    asked.ask("/products", token)
    asked.http.get("/api/v1/products", headers={"Authorization": f"Bearer {token}"}, data=b"{}")
    assert asked.hits == 0


@pytest.mark.parametrize("path", ["/products?q=" + "x" * 700, "/products/größe", "/products/a/b", "/cart"])
def test_requests_that_are_no_plain_read_of_the_catalogue_go_to_django(token, path):
    asked = EdgeClient()
    asked.ask("/products", token)
    assert not asked.is_hit(path, token)
    assert not asked.is_hit(path, token)


def test_unknown_parameters_and_their_order_share_an_entry(token):
    asked = EdgeClient()
    asked.ask("/products?per_page=2&q=mug&_=1", token)
    assert asked.is_hit("/products?q=cup&_=123&q=mug&per_page=2", token)
    # The response names the parameters that it ignores.
    assert not asked.is_hit("/products?per_page=2&q=mug", token)
    assert not asked.is_hit("/products?q=mug", token)
    assert not asked.is_hit("/products?q=mug&per_page=2&page=1", token)


def test_a_browser_gets_the_response_for_its_origin(shop, token):
    shop.allowed_origins.create(origin="https://scripts.example.com")
    asked = EdgeClient()
    for _ in range(2):
        assert "Access-Control-Allow-Origin" not in asked.ask("/products", token).headers
        answer = asked.ask("/products", token, Origin="https://scripts.example.com")
        assert answer.headers["Access-Control-Allow-Origin"] == "https://scripts.example.com"
