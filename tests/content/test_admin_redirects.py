"""Redirects and missing pages in the admin."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from storefront.content.models import MissingPath, Redirect
from storefront.shops.audit_models import AuditEntry
from tests.shops.factories import NOW

STAMPS = {"created_at": NOW, "updated_at": NOW}


def stored(shop) -> dict[str, str]:
    return dict(Redirect.objects.filter(shop=shop).values_list("path", "target"))


def errors(response) -> dict[str, list[str]]:
    return dict(response.context_data["adminform"].form.errors)


def test_a_redirect_is_added_in_its_normal_form_changed_and_deleted(desk, shop, other_shop):
    Redirect.objects.create(shop=other_shop, path="/old", target="/theirs", **STAMPS)
    desk.fill(Redirect, path=f"{shop.base_url}/Old/", target=" /products ")
    assert stored(shop) == {"/old": "/products"}
    row = Redirect.objects.get(shop=shop)
    desk.fill(row, path="/older")
    assert stored(shop) == {"/older": "/products"}
    desk.choose(Redirect, "delete_selected", row, post="yes")
    assert (stored(shop), stored(other_shop)) == ({}, {"/old": "/theirs"})
    actions = AuditEntry.objects.filter(shop=shop).order_by("pk").values_list("action", flat=True)
    assert [each for each in actions if each.startswith("redirect")] == [
        "redirect.created",
        "redirect.updated",
        "redirect.deleted",
    ]


def test_what_is_wrong_stands_at_its_field(desk, shop):
    Redirect.objects.create(shop=shop, path="/a", target="/b", **STAMPS)
    assert errors(desk.fill(Redirect, path="/a", target="/c")) == {"path": ["This address is redirected already."]}
    wrong = errors(desk.fill(Redirect, path="old", target="javascript:alert(1)"))
    assert wrong == {
        "path": ["Enter a path of your shop, such as /old-page."],
        "target": ["Enter a path of your shop, such as /products, or an address with https://."],
    }
    circle = errors(desk.fill(Redirect, path="/b", target="/a"))
    assert list(circle) == ["target"]
    assert circle["target"][0].startswith("This makes a loop: ")
    assert stored(shop) == {"/a": "/b"}


def test_those_that_led_to_a_redirected_path_lead_on(desk, shop, other_shop):
    for where in (shop, other_shop):
        Redirect.objects.create(shop=where, path="/a", target="/b", **STAMPS)
    page = desk.fill(Redirect, path="/b", target="/c", follow=True)
    assert "1 that led to /b lead to /c now." in page.content.decode()
    assert stored(shop) == {"/a": "/c", "/b": "/c"}
    assert stored(other_shop) == {"/a": "/b"}
    desk.fill(Redirect, path="/d", target="/a")
    assert stored(shop)["/d"] == "/c"


def test_a_file_is_imported_and_exported(desk, shop, other_shop):
    url = reverse("admin:content_redirect_import_redirects")
    file = SimpleUploadedFile("redirects.csv", b"Redirect from,Redirect to\n/old,/products\n")
    assert "1 added" in desk.post(url, {"file": file}, follow=True).content.decode()
    wrong = SimpleUploadedFile("redirects.csv", b"Redirect from,Redirect to\n/new,/products\nold,/products\n")
    text = desk.post(url, {"file": wrong}, follow=True).content.decode()
    assert "Line 3: Redirect from: Enter a path of your shop" in text
    assert (stored(shop), stored(other_shop)) == ({"/old": "/products"}, {})
    exported = desk.get(reverse("admin:content_redirect_export_redirects"))
    assert exported.content.decode().splitlines() == ["Redirect from,Redirect to", "/old,/products"]


def test_a_missing_page_is_redirected_and_leaves_the_list(desk, shop, other_shop):
    for where in (shop, other_shop):
        MissingPath.objects.create(shop=where, path="/gone", asked=3, last_asked_at=NOW)
    row = MissingPath.objects.get(shop=shop)
    assert "/gone" in desk.get(reverse("admin:content_missingpath_changelist")).content.decode()
    answer = desk.get(reverse("admin:content_missingpath_redirect", args=[row.pk]))
    form = desk.get(answer["Location"]).context_data["adminform"].form
    assert form["path"].value() == "/gone"
    desk.fill(Redirect, path="/gone", target="/products")
    assert list(MissingPath.objects.values_list("shop", flat=True)) == [other_shop.pk]


def test_a_redirect_from_an_odd_path_is_changed(desk, shop, other_shop):
    row = Redirect.objects.create(shop=shop, path="/a?b%41", target="/x", **STAMPS)
    page = desk.get(reverse("admin:content_redirect_change", args=[row.pk]))
    assert page.context_data["adminform"].form["path"].value() == "/a%3Fb%2541"
    desk.fill(row, target="/y")
    assert stored(shop) == {"/a?b%41": "/y"}
    desk.fill(row, path="/c%3Fd")
    assert stored(shop) == {"/c?d": "/y"}
    gone = MissingPath.objects.create(shop=shop, path="/50%", asked=1, last_asked_at=NOW)
    assert desk.get(reverse("admin:content_missingpath_redirect", args=[gone.pk]))["Location"].endswith(
        "path=%2F50%2525"
    )


@pytest.mark.parametrize("role", ["read_only", "fulfilment"])
def test_only_who_writes_pages_sees_them(desk):
    for model in ("redirect", "missingpath"):
        assert desk.get(reverse(f"admin:content_{model}_changelist")).status_code == 403
