"""URLs and forms that no browser would send are refused or ignored, and cause no error."""

from typing import Any
from urllib.parse import quote

import pytest
from django.contrib import admin
from django.urls import reverse

from storefront.deployment.models import DeployedShop
from storefront.installations.models import App
from storefront.shops.models import User
from tests.server.admin_rows import ROWS
from tests.server.test_admin_rights import deeds_of, may, row_of
from tests.staff import open_desk

pytestmark = [pytest.mark.strict, pytest.mark.proof]

PAGES = [model._meta.label_lower.replace(".", "_") for model in admin.site._registry]
IDS = ["abc", "0", "-1", "1.5", "99999999999999999999999", "1" * 5000, "_00", "\x00", "1/2", " ", "😀", "None"]
QUERIES = [
    {"p": "99999999999999999999999"},
    {"p": "1" * 5000},
    {"p": "-1"},
    {"p": "abc"},
    {"p": "1000000"},
    {"e": "1"},
    {"e": "1", "p": "99999999"},
    {"all": "1"},
    {"o": "1.-2.999.abc"},
    {"o": "99999999999999999999999"},
    {"o": "\x00"},
    {"q": "\x00"},
    {"q": "a\x00b"},
    {"q": "'\"%_\\ " * 40},
    {"q": "😀"},
    {"\x00": "1"},
    {"_popup": "1"},
    {"_popup": "\x00"},
    {"_to_field": "id__gt"},
    {"_facets": "True"},
    {"status__exact": "\x00"},
    {"status__exact": "x" * 5000},
    {"is_active__exact": "maybe"},
    {"is_active__isnull": "maybe"},
    {"categories__id__exact": "abc"},
    {"categories__id__exact": "99999999999999999999999"},
    {"brand__id__exact": "abc", "e": "1"},
    {"group__id__exact": "99999999999999999999999"},
    {"stock": "never"},
    {"deleted": "\x00"},
    {"installation__id__exact": "99999999999999999999999"},
]
# Of lists and of other pages alike.
ANYWHERE = [
    {"variants-page": "99999999999999999999999", "adjustments-page": "²", "prices-page": "-1"},
    {"_to_field": "password"},
    {"_popup": "1", "_changelist_filters": "%00&a=b;=;&&"},
    {"name": "\x00"},
]
FORMS: list[dict[str, Any]] = [
    {},
    {"action": "delete_selected", "_selected_action": ["abc"], "index": "0"},
    {"action": "delete_selected", "_selected_action": ["99999999999999999999999", "-1", "\x00"]},
    {"action": "delete_selected", "_selected_action": ["99999999999999999999999", "1.5"], "index": "99999999999999999"},
    {"action": "\x00", "_selected_action": ["1"], "select_across": "maybe"},
    {"action": "nothing", "_selected_action": ["1"], "index": "-1"},
    {"_save": "1", "form-TOTAL_FORMS": "abc", "form-INITIAL_FORMS": "-1"},
    {"_popup": "1", "_to_field": "digest"},
    {"_popup": "1", "_saveasnew": "1", "_addanother": "1"},
    {"post": "yes", "_form_submitted": "on"},
    {"variants-TOTAL_FORMS": "99999", "variants-INITIAL_FORMS": "99999", "lines-TOTAL_FORMS": "-5"},
    {"name": "\x00", "email": "a@b\x00.example", "slug": "x" * 70000, "price": "NaN", "value": "Infinity"},
    {"stock_qty": "99999999999999999999999", "initial-stock_qty": "abc", "brand": "abc", "group": "9" * 30},
]


@pytest.fixture
def operator(shop) -> Any:
    """A user who may open every view."""
    desk = open_desk(User.objects.create_superuser("operator", "op@example.com", "lighthouse-1"), shop)
    desk.raise_request_exception = False
    return desk


@pytest.mark.parametrize("page", PAGES)
def test_impossible_ids_cause_no_error(operator, shop, page):
    row_of(page, shop)
    for name, (reads, writes, names_row) in deeds_of(page).items():
        if not names_row:
            continue
        url = reverse(f"admin:{name}", args=["KEY"])
        for key in IDS:
            asked = url.replace("KEY", quote(key))
            # No pattern matches NUL, so its 404 comes before the right is looked at.
            got, sent = (404 if key == "\x00" or may(page, deed, "operator") else 403 for deed in (reads, writes))
            assert operator.get(asked).status_code == got, asked[:80]
            assert operator.post(asked, {"post": "yes", "_form_submitted": "on"}).status_code == sent, asked[:80]


@pytest.mark.parametrize("page", PAGES)
def test_impossible_queries_cause_no_error(operator, shop, page):
    row = row_of(page, shop)
    for name, (_, _, names_row) in deeds_of(page).items():
        url = reverse(f"admin:{name}", args=[row.pk] if names_row else [])
        for query in [*QUERIES, *ANYWHERE] if name.endswith("changelist") else ANYWHERE:
            answer = operator.get(url, query)
            # Ignored, redirected or refused: which one depends on the page and on the query.
            assert answer.status_code < 500, (url, query)


@pytest.mark.timeout(800)
@pytest.mark.parametrize("page", PAGES)
def test_impossible_forms_cause_no_error(operator, shop, page):
    row = row_of(page, shop)
    for suffix in ("changelist", "add", "change"):
        url = reverse(f"admin:{page}_{suffix}", args=[row.pk] if suffix == "change" else [])
        for form in FORMS:
            answer = operator.post(url, form)
            # Refused, redirected or shown again with errors: which one depends on the page and on the form.
            assert answer.status_code < 500, (url, form)


BRANDS = {"app_label": "catalogue", "model_name": "product", "field_name": "brand"}


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 403),
        ({"app_label": "nothing", "model_name": "product", "field_name": "brand"}, 403),
        ({"app_label": "catalogue", "model_name": "nothing", "field_name": "brand"}, 403),
        ({"app_label": "catalogue", "model_name": "product", "field_name": "nothing"}, 403),
        ({"app_label": "catalogue", "model_name": "product", "field_name": "name"}, 403),
        ({"app_label": "catalogue", "model_name": "product", "field_name": "shop"}, 404),
        ({"app_label": "shops", "model_name": "staffmember", "field_name": "user"}, 403),
        ({"app_label": "shops", "model_name": "user", "field_name": "groups"}, 403),
        ({**BRANDS, "term": "\x00"}, 404),
        ({**BRANDS, "page": "abc"}, 404),
        ({**BRANDS, "page": "9" * 30}, 404),
        ({"app_label": "\x00", "model_name": "\x00", "field_name": "\x00"}, 404),
        ({**BRANDS, "term": "x" * 5000}, 200),
    ],
)
def test_impossible_choices_cause_no_error(operator, shop, asked, status):
    assert operator.get(reverse("admin:autocomplete"), asked).status_code == status


@pytest.mark.parametrize(
    "path",
    [
        "/admin/r/6/1/",
        "/admin/r/abc/1/",
        "/admin/r/99999999999999999999999/1/",
        "/admin/search/?s=a&page=abc",
        "/admin/search/?s=a&page=99999&extended=1",
        "/admin/search/?s=%00",
        "/admin/jsi18n/?x=%00",
        "/admin/nothing/",
        "/admin/shops/nothing/",
        "/admin/%00/",
        "/admin/catalogue/product/%00/",
        "/admin/login/?next=//evil.example.com",
        "/admin/password_reset/MQ/",
        "/admin/password_reset/%F0%9F%98%80/",
        "/admin/password_reset/link/?uid=%00&token=%00",
        "/admin/invitation/?token=%00",
        "/admin/invitation/?token=invite_" + "A" * 43,
    ],
)
def test_other_impossible_urls_cause_no_error(operator, path):
    assert operator.get(path).status_code < 500
    assert operator.post(path, {"shop": "9" * 30, "email": "\x00"}).status_code < 500


def test_switching_to_an_unknown_shop_is_refused(operator):
    for chosen in ("9" * 30, "²", "\x00", "-1", "1.0"):
        assert operator.post(reverse("admin:switch_shop"), {"shop": chosen}).status_code == 404


def test_every_page_is_tried_here():
    # The operator's page of shops has no rows of its own: tests/deployment has it.
    assert {*ROWS, App, DeployedShop} == set(admin.site._registry)
