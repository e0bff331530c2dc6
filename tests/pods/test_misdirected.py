"""A request for a shop that another pod serves is a 421 with that pod's number; what none serves stays what it was."""

import pytest
from django.test import Client

from storefront.kit import tokens
from storefront.kit.refusals import InvalidFields
from storefront.pods.models import HostElsewhere
from storefront.staff.domains import ask_for_domain
from tests.client import ApiClient
from tests.shops.factories import NOW, make_shop

AWAY = 5 * 2**40 + 7


@pytest.fixture(autouse=True)
def elsewhere(shop):
    for host, is_domain in (("away.example.com", True), ("www.away.example.com", False)):
        HostElsewhere.objects.create(host=host, shop_id=AWAY, pod=5, is_domain=is_domain)


def ask(host: str, path: str = "/", **given):
    return Client(headers={"host": host}, **given).get(path)


@pytest.mark.parametrize("host", ["away.example.com", "AWAY.example.com:8443", "www.away.example.com"])
@pytest.mark.parametrize("path", ["/", "/products/mug", "/nowhere", "/media/products/a.webp"])
def test_a_page_of_a_shop_elsewhere(host, path):
    answer = ask(host, path)
    assert (answer.status_code, answer["X-Storefront-Pod"]) == (421, "5")
    assert "Please try again" in answer.content.decode()


def test_the_only_shop_here_never_answers_for_it(shop):
    assert shop.name not in ask("away.example.com").content.decode()


def test_the_only_shop_here_answers_for_no_unknown_host(shop, settings):
    """It may be that of a new shop of another pod, of which this one does not know yet."""
    assert ask("new.example.com").status_code == 404
    HostElsewhere.objects.all().delete()
    # Without further pods it does.
    assert ask("new.example.com").status_code == 200
    settings.POD = 5
    assert ask("new.example.com").status_code == 404


def test_a_form_of_a_shop_elsewhere_has_no_effect():
    answer = Client(headers={"host": "away.example.com"}, enforce_csrf_checks=True).post("/basket", {"product": "1"})
    assert (answer.status_code, answer["X-Storefront-Pod"]) == (421, "5")


def test_the_secure_host_of_a_shop_elsewhere(apart):
    answer = ask("secure.example.com", "/away.example.com/checkout")
    assert (answer.status_code, answer["X-Storefront-Pod"]) == (421, "5")
    assert ask("secure.example.com", "/nobody.example.com/checkout").status_code == 404


def test_an_unknown_host_among_several_shops_is_not_found(shop, other_shop):
    answer = ask("unknown.example.net")
    assert answer.status_code == 404
    assert "X-Storefront-Pod" not in answer


def test_own_pages_are_untouched(shop):
    assert ask(shop.domain).status_code == 200
    assert ask(shop.domain, "/nowhere").status_code == 404


@pytest.mark.rule("R-ERR-15")
@pytest.mark.parametrize(("prefix", "path"), [("/api/v1", "/products"), ("/api/apps", "/shop")])
def test_a_token_of_a_shop_elsewhere(prefix, path):
    answer = ApiClient(tokens.new_token("app", shop_id=AWAY), prefix).get(path)
    assert (answer.status_code, answer["X-Storefront-Pod"]) == (421, "5")
    assert answer.json()["code"] == "misdirected"


def test_a_code_that_no_pod_has_is_a_401():
    answer = ApiClient(tokens.new_token("api", shop_id=AWAY + 1)).get("/products")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_unknown")


def test_no_shop_here_gets_a_domain_from_elsewhere(shop):
    with pytest.raises(InvalidFields) as refused:
        make_shop("away.example.com")
    assert refused.value.errors == {"domain": ["Another shop already has the domain away.example.com."]}
    with pytest.raises(InvalidFields):
        ask_for_domain(shop=shop, domain="www.away.example.com", now=NOW)
