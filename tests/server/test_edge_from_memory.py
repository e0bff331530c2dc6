"""What the edge answers on the thread that all requests pass: only responses that need no slow work."""

import pytest
from werkzeug.test import EnvironBuilder

from storefront.server.edge import access_log
from storefront.server.edge.access_log import LineBuffer
from storefront.server.edge.edge import NeedsThread
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
    with pytest.raises(NeedsThread):
        answer_from_memory(asked, token, Accept_Encoding="gzip")
    packed = asked.ask("/products/mug", token, Accept_Encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert answer_from_memory(asked, token, Accept_Encoding="gzip") == ("200 OK", packed.data)


def test_a_call_that_redis_counts_is_left_to_a_thread(asked, shop, settings):
    token = make_token(shop, "read_products")
    ApiToken.objects.update(requests_per_minute=100)
    asked.ask("/products/mug", token)
    assert answer_from_memory(asked, token) is not None
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    with pytest.raises(NeedsThread):
        answer_from_memory(asked, token)


@pytest.mark.parametrize(("peer", "is_taken"), [("127.0.0.1", True), ("203.0.113.5", False)])
def test_a_cached_response_has_the_id_that_a_trusted_proxy_gave(asked, shop, peer, is_taken):
    token = make_token(shop, "read_products")
    asked.ask("/products/mug", token)
    sent = {"Authorization": f"Bearer {token}", "X-Request-Id": "from-a-proxy"}
    environ = EnvironBuilder("/api/v1/products/mug", headers=sent, environ_base={"REMOTE_ADDR": peer}).get_environ()
    said: dict[str, str] = {}
    assert asked.edge.answer_from_memory(environ, lambda status, headers: said.update(headers)) is not None
    assert (said["X-Request-Id"] == "from-a-proxy") is is_taken


def test_a_cached_responses_log_line_names_the_shop_and_the_token(asked, shop, monkeypatch):
    token = make_token(shop, "read_products")
    asked.ask("/products/mug", token)
    kept = LineBuffer()
    # So its thread is not started, which would write the line.
    kept.has_pending.set()
    monkeypatch.setattr(access_log, "buffer", kept)
    asked.ask("/products/mug", token)
    ((*_, domain, caller),) = kept.pending
    assert (domain, caller) == (shop.domain, f"token {ApiToken.objects.get().pk}")
