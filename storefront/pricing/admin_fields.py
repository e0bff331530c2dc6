"""Fields and formats shared by the forms and lists of prices, taxes and delivery."""

from collections.abc import Iterable
from decimal import Decimal

from django import forms

from storefront.kit.countries import countries
from storefront.pricing.postcodes import normal_pattern

MAX_PATTERNS = 2000


def percent(value: Decimal) -> str:
    """`Decimal("19.000")` as `19%`."""
    return f"{value.normalize():f}%"


def country_choices() -> list[tuple[str, str]]:
    return list(countries().items())


def normal_patterns(words: Iterable[str]) -> list[str]:
    """Normalise the form's patterns of postal codes. Raises ValidationError."""
    given = [part for word in words for part in word.splitlines() if part.strip()]
    if len(given) > MAX_PATTERNS:
        raise forms.ValidationError(f"Enter at most {MAX_PATTERNS:,} postal codes.")
    patterns, wrong = [], []
    for text in given:
        try:
            patterns.append(normal_pattern(text))
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise forms.ValidationError(wrong[:10])
    return list(dict.fromkeys(patterns))
