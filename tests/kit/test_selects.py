"""`LongSelect` writes what Django's select writes."""

import pytest
from django import forms
from django.test.html import parse_html

from storefront.kit.countries import countries
from storefront.kit.selects import LongSelect

CHOICES = [("", "Please choose"), *countries().items(), ("<b>", "Tom & <i>Jerry</i>"), (7, "Seven")]


@pytest.mark.parametrize("value", [None, "", "DE", "<b>", 7, "7", "nowhere"])
def test_writes_the_same_html_as_djangos_select(value):
    attrs = {"id": "id_country", "required": True, "disabled": False, "aria-describedby": 'a "quoted" help'}
    ours, theirs = (
        select({"autocomplete": "shipping country"}, choices=CHOICES) for select in (LongSelect, forms.Select)
    )
    assert parse_html(ours.render("country", value, attrs)) == parse_html(theirs.render("country", value, attrs))


def test_runs_no_template_for_its_options(monkeypatch):
    monkeypatch.setattr(LongSelect, "_render", lambda *_: pytest.fail("a template was rendered"))
    assert LongSelect(choices=CHOICES).render("country", "DE").count("<option") == len(CHOICES)
