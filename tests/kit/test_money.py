"""Money in each currency of ISO 4217: what its units are, and how it is written."""

import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from iso4217 import Currency

from storefront.kit.currencies import decimals, problem_of
from storefront.kit.format import format_money
from storefront.kit.money import problem_of as problem_of_amount
from storefront.kit.money import quantize, unit

CODES = sorted(currency.code for currency in Currency)
WITHOUT_DECIMALS = {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV"}
WITHOUT_DECIMALS |= {"XAF", "XOF", "XPF"}
WITH_MORE = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND", "CLF", "UYW"}


def test_decimals_are_those_of_iso_4217():
    assert {code for code in CODES if decimals(code) == 0} == WITHOUT_DECIMALS
    assert {code for code in CODES if decimals(code) > 2} == WITH_MORE
    assert (decimals("RSD"), decimals("KWD"), decimals("CLF"), decimals("DEM")) == (2, 3, 4, 2)


def test_a_shop_can_sell_where_two_decimals_are_enough():
    refused = {code for code in CODES if problem_of(code)}
    assert refused >= WITH_MORE | {"XAU", "XXX", "XTS", "XDR"}
    assert not refused & (WITHOUT_DECIMALS | {"EUR", "USD", "RSD", "MGA", "HUF"})
    assert problem_of("DEM") == problem_of("EURO") == "Expected an ISO 4217 code such as EUR."


def test_halves_are_rounded_up_to_the_unit_of_the_currency():
    assert [str(quantize(Decimal(text), "EUR")) for text in ("94.494", "94.495", "94.5")] == ["94.49", "94.50", "94.50"]
    assert [str(quantize(Decimal(text), "JPY")) for text in ("94.49", "94.5", "95.5")] == ["94.00", "95.00", "96.00"]
    assert (unit("EUR"), unit("JPY"), unit("KWD")) == (Decimal("0.01"), 1, Decimal("0.01"))


def test_a_currency_without_decimals_has_no_fractions():
    assert problem_of_amount(Decimal("105.50"), "JPY") == "must be a whole number: JPY has no decimals"
    assert not problem_of_amount(Decimal("105.00"), "JPY")
    assert not problem_of_amount(Decimal("105.50"), "RSD")


@given(st.integers(-(10**14), 10**14))
def test_every_digit_of_an_amount_is_written(units):
    for code in CODES:
        amount = units * unit(code)
        written = format_money(amount, code)
        digits = re.search(r"[0-9][0-9,.]*", written)[0].replace(",", "")
        assert Decimal(digits) == abs(amount)
        assert written.startswith("-") == (amount < 0)
        assert len(digits.partition(".")[2]) == decimals(code)


def test_an_amount_that_the_currency_does_not_have_is_not_rounded_either():
    assert all("98.5" in format_money(Decimal("98.50"), code) for code in CODES)
    assert format_money(None, "EUR") == ""
