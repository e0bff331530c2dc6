"""Fields and formats shared by the forms and lists of prices, taxes and delivery."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from storefront.kit.countries import countries
from storefront.kit.format import format_count
from storefront.pricing.postcodes import normal_pattern
from storefront.staff.admin_forms import WordsField

MAX_PATTERNS = 2000


def percent(value: Decimal) -> str:
    """`Decimal("19.000")` as `19%`."""
    return f"{value.normalize():f}%"


def country_choices() -> list[tuple[str, str]]:
    return list(countries().items())


def shortened(parts: Sequence[str]) -> str:
    """The first five of the parts, and how many more there are."""
    first = ", ".join(parts[:5])
    return _("%(first)s and %(count)s more") % {"first": first, "count": len(parts) - 5} if len(parts) > 5 else first


class PatternsField(WordsField):
    """Patterns of postal codes, for a column of them."""

    widget = UnfoldAdminTextareaWidget({"rows": 3})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label=_lazy("Only these postal codes"), **kwargs)

    def clean(self, value: Any) -> list[str]:
        """The normalised patterns."""
        given = [part for word in super().clean(value) for part in word.splitlines() if part.strip()]
        if len(given) > MAX_PATTERNS:
            raise forms.ValidationError(
                _("Enter at most %(most)s postal codes.") % {"most": format_count(MAX_PATTERNS)}
            )
        patterns, wrong = [], []
        for text in given:
            try:
                patterns.append(normal_pattern(text))
            except ValueError as error:
                wrong.append(str(error))
        if wrong:
            raise forms.ValidationError(wrong[:10])
        return list(dict.fromkeys(patterns))
