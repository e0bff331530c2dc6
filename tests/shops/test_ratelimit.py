"""Rate limits of API tokens (R-LIM-8 to R-LIM-11)."""

from datetime import UTC, datetime, timedelta

import pytest

from storefront.shops import ratelimit
from storefront.shops.models import ApiToken
from tests.answers import error_of
from tests.client import ApiClient
from tests.shops.factories import NOW, make_token

HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]


@pytest.fixture
def limited(shop) -> ApiClient:
    """An integration that may call three times a minute."""
    token = make_token(shop)
    ApiToken.objects.update(requests_per_minute=3)
    return ApiClient(token)


def test_a_token_can_make_as_many_calls_as_its_limit(limited, clock):
    statuses = [limited.get("/cart").status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_every_response_has_the_remaining_quota(limited, clock):
    answers = [limited.get("/cart") for _ in range(4)]
    assert [answer["X-RateLimit-Limit"] for answer in answers] == ["3"] * 4
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert {answer["X-RateLimit-Reset"] for answer in answers} == {str(int(NOW.timestamp()) + 60)}


def test_a_429_has_retry_after(limited, clock):
    for _ in range(3):
        limited.get("/cart")
    clock.shift(20)
    answer = limited.get("/cart")
    assert answer["Retry-After"] == "40"
    assert error_of(answer) == {
        "message": "Too many requests. Please try again later.",
        "code": "rate_limited",
    }
    clock.shift(41)
    assert limited.get("/cart").status_code == 200


@pytest.mark.rule("R-LIM-9")
def test_the_window_slides(limited, clock):
    limited.get("/cart")
    clock.shift(30)
    limited.get("/cart")
    limited.get("/cart")
    clock.shift(31)
    assert [limited.get("/cart").status_code for _ in range(2)] == [200, 429]


@pytest.mark.rule("R-LIM-10")
def test_refused_calls_do_not_count(limited, clock):
    for _ in range(20):
        limited.get("/cart")
    clock.shift(61)
    assert limited.get("/cart")["X-RateLimit-Remaining"] == "2"


@pytest.mark.rule("R-LIM-10", "R-LIM-11")
def test_failed_calls_count_and_have_the_remaining_quota(shop, clock):
    client = ApiClient(make_token(shop, "read_products"))
    ApiToken.objects.update(requests_per_minute=2)
    assert client.get("/cart").status_code == 403
    answer = client.get("/products/nothing")
    assert (answer.status_code, answer["X-RateLimit-Remaining"]) == (404, "0")
    # Before the scope: a limited caller learns nothing more.
    assert client.get("/cart").status_code == 429


@pytest.mark.rule("R-LIM-8")
def test_a_token_without_a_limit_has_none(api):
    answers = [api.get("/cart") for _ in range(50)]
    assert {answer.status_code for answer in answers} == {200}
    assert not any(header in answers[-1] for header in HEADERS)


@pytest.mark.rule("R-LIM-10")
def test_one_token_does_not_use_up_the_limit_of_another(limited, shop, clock):
    other = ApiClient(make_token(shop))
    ApiToken.objects.update(requests_per_minute=3)
    for _ in range(4):
        limited.get("/cart")
    assert other.get("/cart")["X-RateLimit-Remaining"] == "2"


def test_unknown_tokens_are_not_counted(stranger):
    before = len(ratelimit._credential_windows)
    stranger.token = "api_" + "x" * 43
    for _ in range(5):
        assert stranger.get("/cart").status_code == 401
    assert len(ratelimit._credential_windows) == before


def test_processes_share_their_counts_in_redis(limited, settings, redis_url):
    settings.REDIS_URL = redis_url
    assert limited.get("/cart")["X-RateLimit-Remaining"] == "2"
    # Another process starts without anything in memory.
    ratelimit._limiter.cache_clear()
    answer = limited.get("/cart")
    assert answer["X-RateLimit-Remaining"] == "1"
    resets = datetime.fromtimestamp(int(answer["X-RateLimit-Reset"]), UTC) - datetime.now(UTC)
    assert timedelta(seconds=50) < resets <= timedelta(seconds=61)
    assert [limited.get("/cart").status_code for _ in range(2)] == [200, 429]


def test_each_process_counts_for_itself_if_redis_is_away(limited, settings, clock):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert [limited.get("/cart").status_code for _ in range(4)] == [200, 200, 200, 429]
