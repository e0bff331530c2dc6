"""No page keeps a browser from sending its own form: `tests/referrer.py` looks at every page that a test opens."""

import pytest
from django.http import HttpResponse
from django.test import Client

from storefront.staff import staff_pages
from tests.referrer import has_dead_form

FORM = "<form class='x' method=\"post\">"
META = '<meta name="referrer" content="same-origin">'


@pytest.mark.parametrize(
    ("page", "policy", "is_dead"),
    [
        (FORM, "no-referrer", True),
        (FORM, "same-origin", False),
        (META + FORM, "no-referrer", False),
        ('<form role="search">', "no-referrer", False),
        ("<p>", "no-referrer", False),
    ],
)
def test_a_form_needs_a_referrer(page, policy, is_dead):
    assert has_dead_form(HttpResponse(page, headers={"Referrer-Policy": policy})) == is_dead


def test_every_page_that_a_test_opens_is_looked_at(shop, monkeypatch):
    def dead(_request, _template, _context, _status=200):
        return HttpResponse(FORM, headers={"Referrer-Policy": "no-referrer"})

    monkeypatch.setattr(staff_pages, "_page", dead)
    with pytest.raises(AssertionError, match="a browser cannot send the form of /admin/password_reset/"):
        Client().get("/admin/password_reset/")
