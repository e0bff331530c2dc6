"""Script tags: their record, their registration, and the pages that have them. test_registrations.py has the rest."""

import pytest

from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.factories.apps import install

NEW = {"src": "https://app.example.com/badge.js", "location": "head"}


@pytest.fixture
def app(shop):
    return install(shop, "write_script_tags")


@pytest.fixture
def script_tag(app):
    return app.api.post("/script-tags", NEW).json()["script_tag"]


@pytest.fixture
def shopper(shop):
    return Shopper(shop)


class TestRecord:
    @pytest.mark.rule("R-APP-25")
    def test_the_fields_have_the_order_and_the_types_of_the_table(self, script_tag):
        assert {name: type(value) for name, value in script_tag.items()} == {
            "id": int,
            "app_installation_id": int,
            "src": str,
            "location": str,
            "is_active": bool,
            "created_at": str,
            "updated_at": str,
            "blocked_reason": str,
        }
        assert list(script_tag)[:5] == ["id", "app_installation_id", "src", "location", "is_active"]

    @pytest.mark.rule("R-APP-26")
    @pytest.mark.parametrize("location", ["head", "body_start", "body_end"])
    def test_location_is_one_of_three(self, app, location):
        assert app.api.post("/script-tags", NEW | {"location": location}).status_code == 201
        assert app.api.post("/script-tags", NEW | {"location": "footer"}).status_code == 422


class TestBlockedReason:
    @pytest.mark.rule("R-APP-28")
    def test_it_names_the_settings_where_everything_is_on_one_host(self, app, script_tag):
        assert "STOREFRONT_ADMIN_HOST and STOREFRONT_SECURE_HOST" in script_tag["blocked_reason"]
        again = app.api.post("/script-tags", NEW)
        assert (again.status_code, again.json()["script_tag"]) == (200, script_tag)
        assert app.api.get("/script-tags").json() == {"script_tags": [script_tag]}

    @pytest.mark.rule("R-APP-28")
    def test_it_is_null_where_scripts_run(self, apart, app, script_tag):
        assert script_tag["blocked_reason"] is None
        assert app.api.get("/script-tags").json()["script_tags"][0]["blocked_reason"] is None


class TestEndpoints:
    @pytest.mark.rule("R-APP-26")
    def test_post_answers_201_with_message_and_script_tag(self, app):
        answer = app.api.post("/script-tags", NEW)
        assert answer.status_code == 201
        assert answer.json()["message"] == "Script tag registered."
        assert answer.json()["script_tag"] | NEW == answer.json()["script_tag"]

    @pytest.mark.rule("R-APP-26")
    def test_the_same_src_and_location_again_is_200_and_the_one_that_stands(self, app, script_tag):
        again = app.api.post("/script-tags", NEW)
        assert again.status_code == 200
        assert again.json()["script_tag"] == script_tag


@pytest.mark.usefixtures("apart")
class TestPages:
    """That a blocked script does not run, and that no error appears, is seen in tests/browser/test_scripts.py."""

    @pytest.mark.rule("R-APP-27")
    def test_never_on_checkout(self, app, shop, shopper, api, script_tag, settings):
        # Also not where the checkout is on the shop's own host; of another one tests/website/test_app_scripts.py tells.
        settings.ADMIN_HOST = settings.SECURE_HOST = ""
        shopper.bring(api, {"product_id": make_product(shop, "Mug").pk})
        placed = shopper.order()["Location"]
        shopper.bring(api, {"product_id": make_product(shop, "Bowl").pk})
        shopper.fill_details()
        for path in ("/checkout", "/checkout/payment", placed):
            answer = shopper.get(path)
            assert answer.status_code == 200
            assert NEW["src"] not in answer.content.decode()
            assert "app.example.com" not in answer.headers["Content-Security-Policy"]
