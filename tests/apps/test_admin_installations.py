"""Admin pages of installed apps, for merchants."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from storefront.apps import actions
from storefront.apps.models import Extension, ExtensionCall
from storefront.installations.models import App, Installation
from storefront.kit import clock
from storefront.shops.models import ApiToken, User
from storefront.webhooks.models import Attempt, Delivery
from tests.apps.test_uninstalling import register_everything
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.server.admin_rows import ROWS
from tests.staff import admin_url, open_desk


@pytest.fixture
def installed(shop):
    return install(shop, "read_shop", "read_orders", app=make_app("gifts", name="Gift notes"))


@pytest.fixture
def row(installed):
    return installed.installation


def action_url(row: Installation, name: str) -> str:
    return reverse(f"admin:apps_installation_{name}", args=[row.pk])


def status(token: str) -> int:
    return ApiClient(token, prefix="/api/apps").get("/shop").status_code


@pytest.mark.slow
def test_the_list_shows_permissions_and_the_install_notification(desk, row):
    listed = desk.get(admin_url(Installation, "changelist")).content.decode()
    for words in ("Gift notes", "2 permissions", "Pending"):
        assert words in listed
    Delivery.objects.update(status="delivered")
    assert "Delivered" in desk.get(admin_url(Installation, "changelist")).content.decode()
    Delivery.objects.update(status="dead")
    assert "Failed" in desk.page(row).content.decode()


def test_the_list_offers_what_is_not_installed_here(desk, row, other_shop):
    App.objects.filter(pk=make_app("withdrawn", name="Withdrawn").pk).update(is_active=False)
    install(other_shop, app=make_app("reviews", name="Reviews"))
    answer = desk.get(admin_url(Installation, "changelist"))
    assert [app.name for app in answer.context_data["available"]] == ["Reviews"]
    assert 'aria-label="Install Reviews"' in answer.content.decode()
    actions.uninstall_app(shop=row.shop, installation=row, now=clock.now())
    answer = desk.get(admin_url(Installation, "changelist"))
    assert [app.name for app in answer.context_data["available"]] == ["Gift notes", "Reviews"]


@pytest.mark.parametrize("model", [Installation, Extension])
def test_the_list_takes_as_many_queries_for_many(desk, shop, django_assert_num_queries, model):
    url = admin_url(model, "changelist")
    ROWS[model](shop)
    desk.get(url)
    with CaptureQueriesContext(connection) as counted:
        desk.get(url)
    for _ in range(5):
        ROWS[model](shop)
    with django_assert_num_queries(len(counted)):
        answer = desk.get(url)
    assert len(answer.context["cl"].result_list) == 6


def test_the_page_shows_the_last_calls(desk, shop, installed, row):
    register_everything(installed)
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


def test_the_merchant_changes_an_apps_scopes(desk, installed, row):
    desk.fill(row, scopes=["read_orders"])
    assert status(installed.token) == 403
    assert Installation.objects.get().scopes == ApiToken.objects.get().scopes == ["read_orders"]


def test_all_scopes_can_be_removed(desk, row):
    values = {"scopes": []}
    desk.post(admin_url(row, "change"), values)
    assert Installation.objects.get().scopes == []


def test_only_the_operator_sets_the_rate_limit(desk, shop, installed, row):
    desk.fill(row, requests_per_minute=5000)
    assert Installation.objects.get().requests_per_minute == 600
    operator = open_desk(User.objects.create_superuser("op", "op@example.com", "lighthouse-1"), shop)
    operator.fill(row, requests_per_minute=5000)
    assert Installation.objects.get().requests_per_minute == 5000
    assert installed.api.get("/shop")["X-RateLimit-Limit"] == "5000"


def test_a_new_token_is_shown_once_and_the_old_one_stays_valid_for_a_while(desk, installed, row):
    assert "24 hours" in desk.get(action_url(row, "rotate_token")).content.decode()
    assert ApiToken.objects.count() == 1
    page = desk.post(action_url(row, "rotate_token"))
    token = page.context_data["secret"]
    assert token in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert (status(installed.token), status(token)) == (200, 200)
    page = desk.page(row).content.decode()
    assert token not in page
    assert f"app_…{token[-4:]}" in page
    assert f"app_…{installed.token[-4:]}, until" in page


def test_the_merchant_revokes_old_tokens(desk, installed, row):
    assert action_url(row, "end_old_tokens") not in desk.page(row).content.decode()
    token = desk.post(action_url(row, "rotate_token")).context_data["secret"]
    assert action_url(row, "end_old_tokens") in desk.page(row).content.decode()
    desk.post(action_url(row, "end_old_tokens"))
    assert (status(installed.token), status(token)) == (401, 200)


def test_a_new_webhook_secret_is_shown_once(desk, installed, row):
    secret = desk.post(action_url(row, "rotate_secret")).context_data["secret"]
    row.refresh_from_db()
    assert row.signing_secrets(clock.now()) == [secret, installed.secret]
    assert secret not in desk.page(row).content.decode()


def test_the_uninstall_page_counts_only_the_apps_own_rows_in_this_shop(desk, other_shop, installed, row):
    register_everything(installed)
    for each in (install(row.shop), install(other_shop, app=row.app)):
        register_everything(each, "order.paid")
    page = desk.get(action_url(row, "uninstall")).content.decode()
    for words in (
        "Blocks on the shop&#x27;s pages: 1",
        "Scripts on the shop&#x27;s pages: 1",
        "Webhooks: 1",
        "Undelivered messages: 2",
    ):
        assert words in page
    assert status(installed.token) == 200


def test_an_uninstalled_app_is_shown_read_only(desk, installed, row):
    answer = desk.post(action_url(row, "uninstall"), follow=True)
    assert "“Gift notes” has been uninstalled." in answer.content.decode()
    assert status(installed.token) == 401
    page = desk.page(row).content.decode()
    assert "Uninstalled" in page
    assert action_url(row, "uninstall") not in page
    again = desk.post(action_url(row, "uninstall"), follow=True).content.decode()
    assert "This app is not installed in this shop." in again


def test_an_uninstalled_apps_scopes_cannot_be_changed(desk, shop, row):
    actions.uninstall_app(shop=shop, installation=row, now=clock.now())
    assert desk.post(admin_url(row, "change"), {"scopes": ["read_shop"]}).status_code == 403
    assert Installation.objects.get().scopes == ["read_orders", "read_shop"]


def test_the_page_shows_no_calls_or_tokens_of_other_apps_or_shops(desk, shop, other_shop, installed, row):
    for number, each in enumerate((installed, install(shop), install(other_shop, app=row.app))):
        register_everything(each)
        own, now = each.installation, clock.now()
        ExtensionCall.objects.create(
            shop=own.shop, extension=own.extensions.get(), called_at=now, duration_ms=90 + number, outcome="timed_out",
            request="{}",
        )  # fmt: skip
        delivery = Delivery.objects.get(kind="install", installation=own)
        times = {"started_at": now, "duration_ms": 10 + number}
        Attempt.objects.create(shop=own.shop, delivery=delivery, number=1, status=503, **times)
    page = desk.page(row).content.decode()
    assert [words in page for words in ("timed out, 90 ms", "timed out, 91 ms", "timed out, 92 ms")] == [
        True,
        False,
        False,
    ]
    assert [words in page for words in ("503, 10 ms", "503, 11 ms", "503, 12 ms")] == [True, False, False]
    assert page.count("app_…") == 1
