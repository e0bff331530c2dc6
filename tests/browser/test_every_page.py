"""No page of admin or shop has an error of a script, a failed request or a violation of its policy, whatever row it
shows: the browser's fixtures see to that. Pages of rows meet WCAG 2.2 AA as well."""

import pytest
from django.urls import NoReverseMatch, reverse

from storefront.content.models import Page
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_category, make_product
from tests.server.admin_pages import PAGES
from tests.server.admin_rows import ROWS
from tests.shops.factories import NOW

pytestmark = [pytest.mark.browser, pytest.mark.proof, pytest.mark.timeout(1200)]
LISTS, FORMS = ("changelist", "add"), ("change", "delete", "history")
# These answer with a file.
FILES = ("download", "export", "pdf", "csv", "packing_slip", "invoices")


def opened(page: str, deeds: dict[str, str], row) -> list[str]:
    """The addresses of this page of the admin that an owner can open: its list, its forms, its deeds."""
    found = []
    for name in [*LISTS, *FORMS, *deeds]:
        if any(part in name for part in FILES):
            continue
        for given in ([], [row.pk] if row else None):
            try:
                found.append(reverse(f"admin:{page}_{name}", args=given))
                break
            except NoReverseMatch:
                continue
    return found


def test_every_page_of_the_admin_and_its_rows(street, sit):
    # Rows are of no shop, or of the operator: an owner finds none. Some pages are not for every row.
    merchant = sit()
    merchant.expects = {403, 404, 405}
    rows = {model._meta.label_lower.replace(".", "_"): make(street) for model, make in ROWS.items()}
    visited = set()
    for page, deeds in PAGES.items():
        row = rows.get(page)
        for url in opened(page, deeds, row):
            if url in visited:
                continue
            visited.add(url)
            merchant.open(url)
            if url.endswith("/change/"):
                check(merchant)
    assert len(visited) > 150


def test_every_page_of_the_shop(street, visit):
    cups = make_category(street, "Cups")
    make_product(street, "Cup", categories=(cups,))
    Page.objects.create(shop=street, title="About", slug="about", is_published=True, created_at=NOW, updated_at=NOW)
    shopper = visit()
    shopper.expects = {404}
    paths = ["/", "/products", "/products?q=cup", "/categories/cups", "/products/cup", "/pages/about", "/basket"]
    account = ["sign-in", "register", "forgot", "orders", "details", "addresses"]
    for path in [*paths, "/contact", "/checkout", "/nope", *(f"/account/{each}" for each in account)]:
        shopper.open(path)
