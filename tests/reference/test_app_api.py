"""The App API: the shop, credentials, scopes, answers and limits.

What apps register (extensions, script tags, webhooks) and the shop's data have files of their own.
"""

import pytest

from storefront.apps import actions
from storefront.kit import clock
from storefront.shops.auth import app_scope
from storefront.shops.scopes import SCOPES
from storefront.webhooks.models import Delivery
from tests.answers import error_of
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.shops.factories import make_token

# What reading and writing need; None: no scope.
NEEDS = {
    "/shop": ("read_shop", None),
    "/products": ("read_products", "write_products"),
    "/orders": ("read_orders", "write_orders"),
    "/customers": ("read_customers", "write_customers"),
    "/inventory": ("read_inventory", "write_inventory"),
    "/webhooks": (None, "write_webhooks"),
    "/script-tags": (None, "write_script_tags"),
    "/extensions": (None, "write_extensions"),
}
READS = {path: scope for path, (scope, _) in NEEDS.items()}
# A call of each kind that writes; what it is about need not be there, since the scope is asked for first.
WRITES = [
    ("post", "/products", "write_products"),
    ("patch", "/products/1", "write_products"),
    ("delete", "/products/1", "write_products"),
    ("patch", "/orders/1", "write_orders"),
    ("post", "/orders/1/fulfilments", "write_orders"),
    ("post", "/orders/1/cancellation", "write_orders"),
    ("post", "/orders/1/refunds", "write_orders"),
    ("post", "/customers", "write_customers"),
    ("patch", "/customers/1", "write_customers"),
    ("post", "/inventory/adjustments", "write_inventory"),
    ("post", "/webhooks", "write_webhooks"),
    ("delete", "/webhooks/order.placed", "write_webhooks"),
    ("post", "/script-tags", "write_script_tags"),
    ("delete", "/script-tags/1", "write_script_tags"),
    ("post", "/extensions", "write_extensions"),
    ("delete", "/extensions/1", "write_extensions"),
]
CALLS = [*(("get", path) for path in READS), *((method, path) for method, path, _ in WRITES)]


def with_token(token: str | None) -> ApiClient:
    return ApiClient(token, prefix="/api/apps")


def insufficient(required: str, granted: list[str]) -> dict:
    return {
        "message": "Insufficient scope for this endpoint.",
        "code": "insufficient_scope",
        "required_scopes": [required],
        "granted_scopes": granted,
    }


class TestShop:
    @pytest.mark.rule("R-APP-30")
    def test_the_shop_is_told_under_its_name(self, shop):
        assert install(shop, "read_shop").api.get("/shop").json() == {
            "shop": {
                "name": "Lighthouse",
                "email": None,
                "domain": "shop.example.com",
                "currency": "EUR",
                "timezone": "Europe/Berlin",
            }
        }

    @pytest.mark.rule("R-APP-30")
    def test_an_email_that_is_set_is_told(self, shop):
        shop.email = "hello@shop.example.com"
        shop.save()
        assert install(shop, "read_shop").api.get("/shop").json()["shop"]["email"] == "hello@shop.example.com"

    @pytest.mark.rule("R-APP-30")
    def test_it_takes_few_queries(self, shop, django_assert_num_queries):
        api = install(shop, "read_shop").api
        with django_assert_num_queries(1):
            answer = api.get("/shop")
        assert answer.json()["shop"]["name"] == shop.name

    @pytest.mark.rule("R-APP-5", "R-CALL-11")
    def test_the_shop_is_decided_only_by_the_token(self, shop, other_shop):
        """Never by host name, parameter or caller-supplied value."""
        app = make_app()
        here, _ = install(shop, "read_shop", app=app), install(other_shop, "read_shop", app=app)
        path = f"/shop?shop={other_shop.pk}&shop_id={other_shop.pk}&domain={other_shop.domain}"
        answer = here.api.get(path, Host=other_shop.domain, X_Shop_Domain=other_shop.domain)
        assert answer.json()["shop"]["domain"] == shop.domain

    @pytest.mark.rule("R-APP-5")
    def test_an_app_of_many_merchants_holds_one_token_per_merchant(self, shop, other_shop):
        app = make_app()
        tokens = [install(each, "read_shop", app=app).token for each in (shop, other_shop)]
        domains = [with_token(token).get("/shop").json()["shop"]["domain"] for token in tokens]
        assert domains == [shop.domain, other_shop.domain]


class TestCredential:
    @pytest.mark.rule("R-APP-4", "R-CALL-16")
    def test_it_is_a_header_of_its_own(self, shop):
        token = install(shop, "read_shop").token
        assert with_token(None).get("/shop", X_Shop_Access_Token=token).status_code == 200

    @pytest.mark.rule("R-APP-4")
    def test_a_bearer_token_is_accepted_as_well(self, shop):
        token = install(shop, "read_shop").token
        assert with_token(None).get("/shop", Authorization=f"Bearer {token}").status_code == 200

    @pytest.mark.rule("R-ERR-3")
    def test_without_it_every_call_is_a_401(self, db):
        for method, path in CALLS:
            answer = with_token(None).call(method, path)
            assert (answer.status_code, error_of(answer)["code"]) == (401, "token_missing"), path
            assert answer["WWW-Authenticate"] == "Bearer"

    @pytest.mark.rule("R-APP-4", "R-ERR-3")
    def test_a_shops_own_token_opens_nothing_here(self, shop):
        api = with_token(make_token(shop))
        for method, path in CALLS:
            answer = api.call(method, path)
            assert (answer.status_code, error_of(answer)["code"]) == (401, "token_of_another_api"), path
            assert "X-Shop-Access-Token" in answer.json()["message"]

    @pytest.mark.rule("R-APP-8")
    def test_after_the_uninstall_it_opens_nothing(self, shop):
        installed = install(shop, *SCOPES)
        actions.uninstall_app(shop=shop, installation=installed.installation, now=clock.now())
        assert {installed.api.call(method, path).status_code for method, path in CALLS} == {401}

    @pytest.mark.rule("R-ERR-3")
    @pytest.mark.parametrize("token", ["app_", "app_" + "x" * 43, "x", "Bearer", "app_\u00e9"])
    def test_an_unknown_or_malformed_one_is_a_401(self, db, token):
        for header in ({"X_Shop_Access_Token": token}, {"Authorization": f"Bearer {token}"}):
            assert with_token(None).get("/shop", **header).status_code == 401

    @pytest.mark.rule("R-CALL-18")
    def test_of_a_closed_shop_it_is_a_401(self, shop):
        api = install(shop, "read_shop").api
        shop.is_active = False
        shop.save()
        assert api.get("/shop").status_code == 401

    @pytest.mark.rule("R-APP-3")
    def test_it_is_issued_when_the_merchant_installs(self, shop):
        installed = install(shop, "read_shop", app=make_app(install_url="https://gifts.example.com/install"))
        told = Delivery.objects.get(installation=installed.installation)
        assert (told.kind, told.address) == ("install", "https://gifts.example.com/install")

    @pytest.mark.rule("R-APP-4", "R-CALL-16")
    @pytest.mark.parametrize(
        ("path", "scope"),
        [("/products", "read_products"), ("/categories", "read_products"), ("/cart", "read_cart")],
    )
    def test_it_opens_the_public_api_with_the_scopes_granted(self, shop, path, scope):
        with_scope, without = ApiClient(install(shop, scope).token), ApiClient(install(shop, "read_shop").token)
        assert with_scope.get(path).status_code == 200
        assert with_scope.get(path, X_Shop_Access_Token=without.token).status_code == 403
        assert error_of(without.get(path)) == insufficient(scope, ["read_shop"])

    @pytest.mark.rule("R-APP-4")
    def test_carts_can_be_filled_with_it(self, shop):
        api = ApiClient(install(shop, "write_cart").token)
        assert api.delete("/cart").json()["cart_token"].startswith("cart_")


class TestScopes:
    @pytest.mark.rule("R-CALL-19", "R-APP-11")
    @pytest.mark.parametrize("path", READS)
    def test_reading_needs(self, shop, path):
        scope = READS[path]
        others = [each for each in SCOPES if each != scope]
        assert install(shop, *([scope] if scope else [])).api.get(path).status_code == 200
        answer = install(shop, *others).api.get(path)
        if scope is None:
            assert answer.status_code == 200
        else:
            assert (answer.status_code, error_of(answer)) == (403, insufficient(scope, sorted(others)))

    @pytest.mark.rule("R-CALL-19", "R-APP-12")
    @pytest.mark.parametrize(("method", "path", "scope"), WRITES)
    def test_writing_needs(self, shop, method, path, scope):
        others = [each for each in SCOPES if each != scope]
        # The scope lets the call through, to a row that does not exist or to a body without the required members.
        let_through = 404 if "/1" in path or method == "delete" else 422
        assert install(shop, scope).api.call(method, path, {}).status_code == let_through
        answer = install(shop, *others).api.call(method, path, {})
        assert (answer.status_code, error_of(answer)) == (403, insufficient(scope, sorted(others)))

    @pytest.mark.rule("R-CALL-19")
    @pytest.mark.parametrize(("path", "scopes"), [(path, scopes) for path, scopes in NEEDS.items() if all(scopes)])
    def test_writing_does_not_imply_reading(self, shop, path, scopes):
        assert error_of(install(shop, scopes[1]).api.get(path)) == insufficient(scopes[0], [scopes[1]])

    @pytest.mark.rule("R-ERR-6")
    def test_the_shop_cannot_be_written(self, shop):
        api = install(shop, *SCOPES).api
        assert [getattr(api, verb)("/shop").status_code for verb in ("post", "patch", "delete")] == [405] * 3

    @pytest.mark.rule("R-APP-4")
    def test_every_call_of_the_app_api_asks_for_an_app(self):
        from storefront.server.api.api import api

        asked = {
            path: [callback for operation in view.operations for callback in operation.auth_callbacks]
            for prefix, router in api._routers
            if prefix.startswith("/apps")
            for path, view in router.path_operations.items()
        }
        assert asked
        assert all(callbacks and all(isinstance(each, app_scope) for each in callbacks) for callbacks in asked.values())


class TestLists:
    @pytest.mark.rule("R-APP-11", "R-APP-30")
    @pytest.mark.parametrize(
        ("path", "name"), [("/extensions", "extensions"), ("/script-tags", "script_tags"), ("/webhooks", "webhooks")]
    )
    def test_they_are_wrapped_under_a_named_key(self, shop, path, name):
        assert install(shop).api.get(path).json() == {name: []}


class TestAnswers:
    @pytest.mark.rule("R-CALL-1")
    def test_every_answer_is_json_whatever_is_accepted(self, shop):
        api = install(shop).api
        answers = [api.call(method, path, Accept="text/html") for method, path in CALLS]
        assert {answer["Content-Type"] for answer in answers} == {"application/json"}

    @pytest.mark.rule("R-ERR-5")
    def test_unknown_paths_are_a_json_404(self, shop):
        answer = install(shop).api.get("/nothing")
        assert (answer.status_code, error_of(answer)) == (404, {"message": "Not found.", "code": "not_found"})

    @pytest.mark.rule("R-CALL-14")
    def test_no_browser_script_of_another_origin_gets_in(self, shop):
        shop.allowed_origins.create(origin="https://elsewhere.example.com")
        answer = install(shop, "read_shop").api.get("/shop", Origin="https://elsewhere.example.com")
        assert not answer.has_header("Access-Control-Allow-Origin")


class TestLimits:
    @pytest.mark.rule("R-LIM-7")
    def test_each_installation_has_a_limit_per_minute(self, shop, other_shop):
        for each in (shop, other_shop):
            answer = install(each, "read_shop").api.get("/shop")
            assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("600", "599")
