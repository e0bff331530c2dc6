"""What a merchant sees of an installed app, and can do with it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from storefront.apps import actions
from storefront.apps.models import ExtensionCall, Installation
from storefront.kit import clock
from storefront.shops.models import ApiToken, User
from storefront.webhooks.models import Attempt, Delivery
from tests.apps.test_uninstalling import furnish
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.staff import admin_url, make_staff, open_desk


@pytest.fixture
def desk(shop):
    return open_desk(make_staff(shop))


@pytest.fixture
def installed(shop):
    return install(shop, "read_shop", "read_orders", app=make_app("gifts", name="Gift notes"))


@pytest.fixture
def row(installed):
    return installed.installation


def deed(row: Installation, name: str) -> str:
    return reverse(f"admin:apps_installation_{name}", args=[row.pk])


def status(token: str) -> int:
    return ApiClient(token, prefix="/api/apps").get("/shop").status_code


def test_the_list_tells_what_an_app_may_and_whether_it_was_told(desk, row):
    listed = desk.get(admin_url(Installation, "changelist")).content.decode()
    for words in ("Gift notes", "2 permissions", "On its way"):
        assert words in listed
    Delivery.objects.update(status="delivered")
    assert "Arrived" in desk.get(admin_url(Installation, "changelist")).content.decode()
    Delivery.objects.update(status="dead")
    assert "Given up" in desk.page(row).content.decode()


def test_the_list_takes_as_many_queries_for_many_apps(desk, shop, django_assert_num_queries):
    url = admin_url(Installation, "changelist")
    install(shop)
    desk.get(url)
    with CaptureQueriesContext(connection) as counted:
        desk.get(url)
    for _ in range(5):
        install(shop)
    with django_assert_num_queries(len(counted)):
        desk.get(url)


def test_the_page_tells_the_last_calls(desk, shop, installed, row):
    furnish(installed)
    now = clock.now()
    ExtensionCall.objects.create(
        shop=shop, extension=row.extensions.get(), called_at=now, duration_ms=87, outcome="timed_out", request="{}"
    )
    Attempt.objects.create(
        shop=shop, delivery=Delivery.objects.get(kind="install"), number=1, started_at=now, duration_ms=12, status=503
    )
    page = desk.page(row).content.decode()
    assert "timed out, 87 ms" in page
    assert "503, 12 ms" in page


def test_the_merchant_changes_what_it_may(desk, installed, row):
    desk.fill(row, scopes=["read_orders"])
    assert status(installed.token) == 403
    assert Installation.objects.get().scopes == ApiToken.objects.get().scopes == ["read_orders"]


def test_everything_can_be_taken_away(desk, row):
    values = {"scopes": []}
    desk.post(admin_url(row, "change"), values)
    assert Installation.objects.get().scopes == []


def test_only_the_operator_sets_the_limit(desk, shop, installed, row):
    desk.fill(row, requests_per_minute=5000)
    assert Installation.objects.get().requests_per_minute == 600
    operator = open_desk(User.objects.create_superuser("op", "op@example.com", "lighthouse-1"), shop)
    operator.fill(row, requests_per_minute=5000)
    assert Installation.objects.get().requests_per_minute == 5000
    assert installed.api.get("/shop")["X-RateLimit-Limit"] == "5000"


def test_a_new_token_is_shown_once_and_the_old_one_lives_on_for_a_while(desk, installed, row):
    assert "24 hours" in desk.get(deed(row, "rotate_token")).content.decode()
    assert ApiToken.objects.count() == 1
    page = desk.post(deed(row, "rotate_token"))
    token = page.context_data["secret"]
    assert token in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert (status(installed.token), status(token)) == (200, 200)
    page = desk.page(row).content.decode()
    assert token not in page
    assert f"app_…{token[-4:]}" in page
    assert f"app_…{installed.token[-4:]}, until" in page


def test_the_merchant_ends_old_tokens(desk, installed, row):
    assert deed(row, "end_old_tokens") not in desk.page(row).content.decode()
    token = desk.post(deed(row, "rotate_token")).context_data["secret"]
    assert deed(row, "end_old_tokens") in desk.page(row).content.decode()
    desk.post(deed(row, "end_old_tokens"))
    assert (status(installed.token), status(token)) == (401, 200)


def test_a_new_webhook_secret_is_shown_once(desk, installed, row):
    secret = desk.post(deed(row, "rotate_secret")).context_data["secret"]
    row.refresh_from_db()
    assert row.signing_secrets(clock.now()) == [secret, installed.secret]
    assert secret not in desk.page(row).content.decode()


def test_the_uninstall_page_says_what_goes(desk, installed, row):
    furnish(installed)
    page = desk.get(deed(row, "uninstall")).content.decode()
    for words in ("pages: 1", "Webhooks: 1", "Messages that have not been delivered yet: 2"):
        assert words in page
    assert status(installed.token) == 200


def test_an_uninstalled_app_stays_to_be_looked_at(desk, installed, row):
    answer = desk.post(deed(row, "uninstall"), follow=True)
    assert "“Gift notes” is uninstalled." in answer.content.decode()
    assert status(installed.token) == 401
    page = desk.page(row).content.decode()
    assert "Uninstalled" in page
    assert deed(row, "uninstall") not in page
    again = desk.post(deed(row, "uninstall"), follow=True).content.decode()
    assert "This app is not installed in this shop." in again


def test_scopes_posted_for_an_uninstalled_app_change_nothing(desk, shop, row):
    actions.uninstall_app(shop=shop, installation=row, now=clock.now())
    assert desk.post(admin_url(row, "change"), {"scopes": ["read_shop"]}).status_code == 403
    assert Installation.objects.get().scopes == ["read_orders", "read_shop"]
