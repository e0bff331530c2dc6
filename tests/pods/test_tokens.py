"""Shop codes in tokens: a hint for the proxy, which opens nothing."""

import re

import pytest

from storefront.kit import tokens
from storefront.server.logs import redact
from storefront.shops.models import ApiToken
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import make_token

pytestmark = pytest.mark.rule("R-CALL-35")


def test_a_token_has_the_code_of_its_shop(shop):
    token = make_token(shop)
    assert re.fullmatch(rf"api_{shop.pk:014x}[A-Za-z0-9_-]{{43}}", token)
    assert tokens.coded_shop(token) == shop.pk


def test_the_token_of_an_app_has_it_too(shop):
    token = install(shop, "read_shop").token
    assert token.startswith(f"app_{shop.pk:014x}")
    assert ApiClient(token, "/api/apps").get("/shop").status_code == 200


def test_the_code_of_the_largest_id_fits():
    token = tokens.new_token("api", shop_id=2**53 - 1)
    assert tokens.is_well_formed(token, "api")
    assert tokens.coded_shop(token) == 2**53 - 1


def test_tokens_without_a_code_work(shop, api):
    old = tokens.new_token("api")
    assert len(old) == len("api_") + 43
    ApiToken.objects.update(digest=tokens.digest(old))
    assert ApiClient(old).get("/products").status_code == 200
    assert tokens.coded_shop(old) is None


def test_a_forged_code_is_unknown(shop, other_shop, api):
    token = make_token(shop)
    forged = token.replace(f"{shop.pk:014x}", f"{other_shop.pk:014x}")
    without = "api_" + token[-43:]
    for each in (forged, without):
        answer = ApiClient(each).get("/products")
        assert (answer.status_code, answer.json()["code"]) == (401, "token_unknown")


@pytest.mark.parametrize("prefix", ["cart", "invite", "handover"])
def test_other_kinds_have_no_code(prefix):
    assert not tokens.is_well_formed(tokens.new_token(prefix, shop_id=7), prefix)


def test_logs_have_neither_kind():
    for token in (tokens.new_token("api", shop_id=7), tokens.new_token("api")):
        assert redact(f"a {token} b") == "a api_… b"
