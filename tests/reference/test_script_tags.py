"""Script tags: their record, their endpoints, and what the policy of pages does to them."""

import re

import pytest

from storefront.apps.models import ScriptTag
from storefront.apps.script_hosts import allow_script_host
from storefront.kit import clock
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.factories.apps import install

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
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
    @pytest.mark.parametrize(
        ("field", "type"),
        [
            ("id", int),
            ("app_installation_id", int),
            ("src", str),
            ("location", str),
            ("is_active", bool),
            ("created_at", str),
            ("updated_at", str),
        ],
    )
    def test_each_field_has_its_type(self, script_tag, field, type):
        assert isinstance(script_tag[field], type)

    @pytest.mark.rule("R-APP-25")
    def test_the_fields_stand_in_the_order_of_the_table(self, script_tag):
        assert list(script_tag) == [
            *("id", "app_installation_id", "src", "location", "is_active", "created_at", "updated_at"),
            "blocked_reason",
        ]

    @pytest.mark.rule("R-APP-26")
    @pytest.mark.parametrize("location", ["head", "body_start", "body_end"])
    def test_location_is_one_of_three(self, app, location):
        assert app.api.post("/script-tags", NEW | {"location": location}).status_code == 201
        assert app.api.post("/script-tags", NEW | {"location": "footer"}).status_code == 422

    @pytest.mark.rule("R-CALL-4")
    def test_timestamps_are_utc_with_six_fraction_digits_and_a_z(self, script_tag):
        assert TIMESTAMP.fullmatch(script_tag["created_at"])
        assert TIMESTAMP.fullmatch(script_tag["updated_at"])

    @pytest.mark.rule("R-APP-5")
    def test_an_installation_belongs_to_exactly_one_shop_and_so_does_its_script_tag(self, app, script_tag, other_shop):
        assert script_tag["app_installation_id"] == app.installation.pk
        assert install(other_shop).api.get("/script-tags").json() == {"script_tags": []}


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
    @pytest.mark.rule("R-APP-11")
    def test_the_list_is_wrapped_under_its_name_not_under_data(self, app, script_tag):
        assert app.api.get("/script-tags").json() == {"script_tags": [script_tag]}

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

    @pytest.mark.rule("R-APP-13")
    def test_delete_answers_200_with_a_message(self, app, script_tag):
        answer = app.api.delete(f"/script-tags/{script_tag['id']}")
        assert answer.status_code == 200
        assert list(answer.json()) == ["message"]
        assert app.api.get("/script-tags").json() == {"script_tags": []}

    @pytest.mark.rule("R-APP-13")
    def test_delete_touches_the_callers_own_and_anothers_is_a_404(self, shop, other_shop, script_tag):
        for place in (shop, other_shop):
            api = install(place, "write_script_tags").api
            assert api.delete(f"/script-tags/{script_tag['id']}").status_code == 404
        assert ScriptTag.objects.count() == 1

    @pytest.mark.rule("R-CALL-21")
    def test_repeated_with_an_idempotency_key_it_is_answered_alike(self, app):
        first = app.api.post("/script-tags", NEW, Idempotency_Key="once")
        again = app.api.post("/script-tags", NEW, Idempotency_Key="once")
        assert (again.status_code, again.content) == (201, first.content)
        assert again["Idempotent-Replayed"] == "true"


class TestUrls:
    @pytest.mark.rule("R-APP-14")
    @pytest.mark.parametrize(
        "url",
        [
            "/badge.js",
            "http://app.example.com/",
            "https://user:secret@app.example.com/",
            "https://app.example.com/" + "a" * 2048,
            "https://127.0.0.1/",
            "https://10.0.0.1/",
            "https://169.254.169.254/",
            "https://100.64.0.1/",
            "https://224.0.0.1/",
            "https://[::1]/",
            "https://[fd00::1]/",
            "https://[::ffff:127.0.0.1]/",
        ],
    )
    def test_what_is_not_absolute_https_to_a_public_address_is_refused(self, app, url, settings):
        settings.ALLOW_PRIVATE_CALLBACKS = False
        answer = app.api.post("/script-tags", NEW | {"src": url})
        assert answer.status_code == 422
        assert list(answer.json()["errors"]) == ["src"]


class TestAuthentication:
    @pytest.mark.rule("R-APP-4")
    def test_the_installations_token_in_its_own_header_or_as_a_bearer_token(self, app):
        plain = ApiClient(None, prefix="/api/apps")
        assert plain.get("/script-tags").status_code == 401
        assert plain.get("/script-tags", X_Shop_Access_Token=app.token).status_code == 200
        assert plain.get("/script-tags", Authorization=f"Bearer {app.token}").status_code == 200

    @pytest.mark.rule("R-APP-11")
    def test_listing_needs_no_scope_and_another_apps_registrations_are_visible(self, shop, script_tag):
        assert install(shop).api.get("/script-tags").json() == {"script_tags": [script_tag]}

    @pytest.mark.rule("R-APP-12")
    @pytest.mark.parametrize("call", ["post", "delete"])
    def test_writing_needs_write_script_tags(self, shop, script_tag, call):
        api = install(shop, "read_shop").api
        answer = api.post("/script-tags", NEW) if call == "post" else api.delete(f"/script-tags/{script_tag['id']}")
        assert answer.status_code == 403
        body = answer.json()
        assert body["message"] == "Insufficient scope for this endpoint."
        assert (body["required_scopes"], body["granted_scopes"]) == (["write_script_tags"], ["read_shop"])


@pytest.mark.usefixtures("apart")
class TestPages:
    """That a blocked script does not run, and that no error appears, is seen in tests/browser/test_scripts.py."""

    @pytest.mark.rule("R-APP-27")
    @pytest.mark.parametrize("location", ["head", "body_start", "body_end"])
    def test_script_tags_appear_on_the_shopper_pages_at_their_location(self, app, shop, shopper, location):
        make_product(shop, "Mug")
        app.api.post("/script-tags", NEW | {"location": location})
        for path in ("/", "/products", "/products/mug", "/basket"):
            text = shopper.get(path).content.decode()
            places = {
                "head": text[: text.index("</head>")],
                "body_start": text[text.index("<body") : text.index("<header")],
                "body_end": text[text.index("</footer>") :],
            }
            assert [place for place, part in places.items() if NEW["src"] in part] == [location]

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

    @pytest.mark.rule("R-APP-29")
    def test_the_policy_lists_the_hosts_that_the_merchant_allows(self, shop, shopper):
        assert "cdn.example.net" not in shopper.get("/").headers["Content-Security-Policy"]
        allow_script_host(shop=shop, host="cdn.example.net", now=clock.now())
        assert "script-src 'self' cdn.example.net;" in shopper.get("/").headers["Content-Security-Policy"]

    @pytest.mark.rule("R-APP-29")
    def test_an_apps_own_host_is_allowed_at_install(self, shop, shopper):
        install(shop)
        assert "script-src 'self' app.example.com;" in shopper.get("/").headers["Content-Security-Policy"]

    @pytest.mark.rule("R-APP-29")
    def test_a_script_tag_can_be_blocked_by_the_policy_and_the_page_is_whole(self, app, shop, shopper):
        src = "https://cdn.example.net/badge.js"
        assert app.api.post("/script-tags", NEW | {"src": src}).status_code == 201
        answer = shopper.get("/")
        assert (answer.status_code, src in answer.content.decode()) == (200, True)
        assert "cdn.example.net" not in answer.headers["Content-Security-Policy"]
