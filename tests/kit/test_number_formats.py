"""Percentages and numbers for people: as English writes them, and as the active language does."""

from decimal import Decimal

import pytest
from django.utils import translation

from storefront.kit.format import format_number, format_percent


@pytest.mark.parametrize(
    ("rate", "english", "german"),
    [("19.000", "19%", "19 %"), ("5.5", "5.5%", "5,5 %"), ("0", "0%", "0 %"), ("12.345", "12.345%", "12,345 %")],
)
def test_percentages(rate, english, german):
    assert format_percent(Decimal(rate)) == english
    with translation.override("de"):
        # A space that does not break.
        assert format_percent(Decimal(rate)) == german.replace(" ", "\xa0")


@pytest.mark.parametrize(
    ("number", "english", "german"), [("1234567.50", "1,234,567.50", "1.234.567,50"), ("9", "9", "9")]
)
def test_numbers(number, english, german):
    assert format_number(Decimal(number)) == english
    with translation.override("de"):
        assert format_number(Decimal(number)) == german
