"""What the edge answers on the thread that all requests pass: only responses that need no slow work."""

import pytest
from werkzeug.test import EnvironBuilder

from storefront.shops.models import ApiToken
from tests.catalogue.factories import make_product
from tests.server.edges import EdgeClient
from tests.shops.factories import make_token

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked(shop, other_shop) -> EdgeClient:
    make_product(shop, "Mug", description="Made by hand. " * 200)
    return EdgeClient()


def answer_from_memory(asked: EdgeClient, token: str, **headers: str) -> tuple[str, bytes] | None:
    """The status and the body, or None if the edge has no response."""
    sent = {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    environ = EnvironBuilder("/api/v1/products/mug", headers=sent).get_environ()
    said: list[str] = []
    found = asked.edge.answer_from_memory(environ, lambda status, headers: said.append(status))
    return None if found is None else (said[0], b"".join(found))


def test_only_cached_responses_are_answered(asked, shop, other_shop):
    token, other = make_token(shop, "read_products"), make_token(other_shop, "read_products")
    assert answer_from_memory(asked, token) is None
    answer = asked.ask("/products/mug", token)
    assert asked.ask("/products/mug", other).status_code == 404
    assert answer_from_memory(asked, token) == ("200 OK", answer.data)
    assert answer_from_memory(asked, other) is None
    assert answer_from_memory(asked, token, Origin="https://a.example") is None
    assert asked.misses == 2


def test_compression_is_left_to_a_thread(asked, shop):
    token = make_token(shop, "read_products")
    asked.ask("/products/mug", token)
    assert answer_from_memory(asked, token, Accept_Encoding="gzip") is None
    packed = asked.ask("/products/mug", token, Accept_Encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert answer_from_memory(asked, token, Accept_Encoding="gzip") == ("200 OK", packed.data)


def test_a_call_that_redis_counts_is_left_to_a_thread(asked, shop, settings):
    token = make_token(shop, "read_products")
    ApiToken.objects.update(requests_per_minute=100)
    asked.ask("/products/mug", token)
    assert answer_from_memory(asked, token) is not None
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert answer_from_memory(asked, token) is None
