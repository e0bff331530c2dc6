"""Money, numbers, dates and countries as people write them in each language."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.utils import translation

from storefront.kit.countries import countries, country_name
from storefront.kit.format import format_bytes, format_count, format_day, format_money, format_time

MOMENT = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "money", "time", "count", "size"),
    [
        ("en", "€1,234.50", "21 Nov 2026, 08:30", "92,331", "1.5 KB"),
        ("de", "1.234,50\xa0€", "21. Nov. 2026, 08:30", "92.331", "1,5 KB"),
        ("fr", "1\u202f234,50\xa0€", "21 nov. 2026, 08:30", "92\u202f331", "1,5 KB"),
        ("nl", "€\xa01.234,50", "21 nov 2026, 08:30", "92.331", "1,5 KB"),
        (
            "pl",
            "1234,50\xa0zł".replace("zł", "€").replace("1234", "1\xa0234"),
            "21 lis 2026, 08:30",
            "92\xa0331",
            "1,5 KB",
        ),
    ],
)
def test_follow_the_active_language(language, money, time, count, size):
    with translation.override(language):
        assert format_money(Decimal("1234.5"), "EUR") == money
        assert format_time(MOMENT, "Europe/Berlin") == time
        assert format_day(MOMENT, "Europe/Berlin") == time.removesuffix(", 08:30")
        assert (format_count(92331), format_bytes(1536)) == (count, size)


def test_are_english_where_no_language_is_active():
    with translation.override(None):
        assert format_money(Decimal("1234.5"), "EUR") == "€1,234.50"
        assert country_name("DE") == "Germany"


def test_countries_are_named_and_sorted_in_the_language():
    with translation.override("de"):
        assert (country_name("AT"), country_name("??")) == ("Österreich", "??")
        names = list(countries().values())
        assert names.index("Oman") < names.index("Österreich") < names.index("Pakistan")
    assert country_name("AT") == "Austria"


def test_every_country_has_the_same_codes_in_every_language():
    codes = set(countries())
    for language in ("de", "ar", "he", "pl"):
        with translation.override(language):
            assert set(countries()) == codes
