"""Apps read the catalogue from memory too, by either header, and lose it with their token."""

import pytest

from storefront.apps import actions
from storefront.kit import clock
from tests.catalogue.factories import make_product
from tests.factories.apps import Installed, install
from tests.server.edges import EdgeClient

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def installed(shop) -> Installed:
    make_product(shop, "Mug")
    return install(shop, "read_products")


@pytest.fixture
def asked(installed) -> EdgeClient:
    asked = EdgeClient()
    asked.ask("/products", installed.token)
    return asked


def test_an_app_gets_cached_responses(asked, installed):
    assert asked.is_hit("/products", installed.token)


def test_the_apps_own_header_works_too(asked, installed):
    asked.ask("/products", None, X_Shop_Access_Token=installed.token)
    assert asked.is_hit("/products", None, X_Shop_Access_Token=installed.token)


def test_the_apps_own_header_wins_over_the_bearer_token(asked, installed, other_shop):
    elsewhere = install(other_shop, "read_products")
    for _ in range(2):
        assert asked.ask("/products", elsewhere.token, X_Shop_Access_Token=installed.token).json["total"] == 1
        assert asked.ask("/products", installed.token, X_Shop_Access_Token=elsewhere.token).json["total"] == 0


def test_the_text_of_one_header_is_not_a_credential_in_the_other(asked, installed):
    answer = asked.ask("/products", None, X_Shop_Access_Token=f"Bearer {installed.token}")
    assert answer.status_code == 401


def test_cached_calls_count_against_the_limit(asked, installed):
    remaining = [asked.ask("/products", installed.token).headers["X-RateLimit-Remaining"] for _ in range(2)]
    assert remaining == ["598", "597"]


CHANGES = {
    "uninstall": (actions.uninstall_app, {}, 401),
    "scopes": (actions.change_scopes, {"scopes": ["read_cart"]}, 403),
    "limit": (actions.change_rate_limit, {"requests_per_minute": 1}, 429),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_the_app_apply_immediately(asked, installed, change):
    action, given, status = CHANGES[change]
    assert asked.is_hit("/products", installed.token)
    action(shop=installed.installation.shop, installation=installed.installation, now=clock.now(), **given)
    assert asked.ask("/products", installed.token).status_code == status


def test_an_old_token_that_was_ended_is_refused_immediately(asked, installed):
    given = {"shop": installed.installation.shop, "installation": installed.installation, "now": clock.now()}
    token = actions.rotate_token(**given)
    asked.ask("/products", token)
    assert asked.becomes_hit("/products", installed.token)
    actions.end_old_tokens(**given)
    assert asked.ask("/products", installed.token).status_code == 401
    assert asked.ask("/products", token).status_code == 200
