"""The rate limit of an installation (R-LIM-7)."""

import pytest
import time_machine

from storefront.apps import actions
from storefront.kit import clock
from tests.answers import error_of
from tests.client import ApiClient
from tests.factories.apps import Installed, install
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.fixture
def time():
    with time_machine.travel(NOW, tick=False) as time:
        yield time


def limited(shop, requests_per_minute: int, *scopes: str) -> Installed:
    installed = install(shop, *scopes)
    given = {"shop": shop, "installation": installed.installation, "now": clock.now()}
    actions.change_rate_limit(**given, requests_per_minute=requests_per_minute)
    return installed


def quota(answer) -> tuple[str, str, str]:
    return tuple(answer[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset"))


@pytest.mark.rule("R-LIM-7")
def test_an_installation_may_call_600_times_a_minute(shop, time):
    resets_at = str(int(NOW.timestamp()) + 60)
    assert quota(install(shop, "read_shop").api.get("/shop")) == ("600", "599", resets_at)


@pytest.mark.rule("R-LIM-7")
def test_the_limit_is_a_setting_of_the_installation(shop, time):
    api = limited(shop, 2, "read_shop").api
    assert [api.get("/shop").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.rule("R-ERR-10")
def test_a_429_says_when_to_come_back(shop, time):
    api = limited(shop, 1, "read_shop").api
    api.get("/shop")
    time.shift(15)
    answer = api.get("/shop")
    assert (answer.status_code, answer["Retry-After"]) == (429, "45")
    assert error_of(answer) == {
        "message": "Too many requests. Please try again later.",
        "code": "rate_limited",
    }
    time.shift(45)
    assert api.get("/shop").status_code == 200


ANSWERS = {
    200: ("get", "/shop", None, {}),
    403: ("post", "/extensions", {}, {}),
    404: ("get", "/nothing", None, {}),
    405: ("delete", "/shop", None, {}),
    204: ("options", "/shop", None, {}),
    400: ("post", "/webhooks", "{", {}),
    413: ("post", "/webhooks", {"topic": "x" * 1024 * 1024}, {}),
    415: ("post", "/webhooks", {}, {"Content_Type": "text/plain"}),
    422: ("post", "/webhooks", {}, {}),
}


@pytest.mark.rule("R-LIM-11")
@pytest.mark.parametrize("status", ANSWERS)
def test_every_answer_to_a_known_caller_has_the_quota(shop, time, status):
    installed = install(shop, "read_shop", "write_webhooks")
    method, path, body, headers = ANSWERS[status]
    first = installed.api.call(method, path, body, **headers)
    assert first.status_code == status
    assert quota(first)[:2] == ("600", "599")
    assert quota(installed.api.get("/shop"))[:2] == ("600", "598")


@pytest.mark.rule("R-LIM-10")
def test_answers_to_unknown_callers_have_no_quota(shop, stranger):
    stranger.prefix = "/api/apps"
    for token in (None, "app_" + "x" * 43):
        stranger.token = token
        for path in ("/shop", "/nothing"):
            assert not stranger.get(path).has_header("X-RateLimit-Limit")


@pytest.mark.rule("R-LIM-7")
def test_calls_of_both_apis_count_together(shop, time):
    installed = limited(shop, 3, "read_shop", "read_products")
    catalogue = ApiClient(installed.token)
    statuses = [installed.api.get("/shop").status_code, catalogue.get("/products").status_code]
    statuses += [installed.api.get("/shop").status_code, catalogue.get("/products").status_code]
    assert statuses == [200, 200, 200, 429]


@pytest.mark.rule("R-LIM-10")
def test_one_app_does_not_use_up_the_limit_of_another(shop, time):
    busy, other = limited(shop, 1, "read_shop"), limited(shop, 1, "read_shop")
    assert [busy.api.get("/shop").status_code for _ in range(2)] == [200, 429]
    assert other.api.get("/shop").status_code == 200


@pytest.mark.slow
@pytest.mark.rule("R-LIM-9")
@pytest.mark.django_db(transaction=True)
def test_exactly_the_limit_of_concurrent_calls_succeeds(shop):
    installed = limited(shop, 70, "read_shop")
    callers = [ApiClient(installed.token, prefix="/api/apps") for _ in range(50)]
    answers = run_concurrently(*(lambda caller=caller: [caller.get("/shop") for _ in range(2)] for caller in callers))
    flat = [answer for pair in answers for answer in pair]
    statuses = [answer.status_code for answer in flat]
    assert (statuses.count(200), statuses.count(429)) == (70, 30)
    left = sorted(int(answer["X-RateLimit-Remaining"]) for answer in flat if answer.status_code == 200)
    assert left == list(range(70))
