"""Fields and formats shared by the forms and lists of prices, taxes and delivery."""

import csv
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget

from storefront.kit.countries import countries
from storefront.pricing.postcodes import normal_pattern
from storefront.pricing.tables import UnusableTable
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import WordsField

MAX_PATTERNS = 2000


def percent(value: Decimal) -> str:
    """`Decimal("19.000")` as `19%`."""
    return f"{value.normalize():f}%"


def country_choices() -> list[tuple[str, str]]:
    return list(countries().items())


class ImportForm(forms.Form):
    file = forms.FileField(label="CSV file", widget=UnfoldAdminFileFieldWidget)


def import_page(
    page: ShopScopedAdmin, request: HttpRequest, load: Callable[[bytes], str], **context: str
) -> HttpResponse | str:
    """The page that asks for a CSV file, with its `title`, an `explanation` and the way `back`.

    Returns the text that `load` returns of a file. The page lists what is wrong with a file.
    """
    form = ImportForm(*(request.POST, request.FILES) if request.method == "POST" else ())
    problems: list[str] = []
    if form.is_bound and form.is_valid():
        try:
            return load(form.cleaned_data["file"].read())
        except UnusableTable as unusable:
            problems = unusable.sentences
    return page.page(request, "pricing/admin/import_table.html", form=form, problems=problems, **context)


def csv_download(name: str, rows: Iterable[Iterable[Any]]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(rows)
    return response


def shortened(parts: Sequence[str]) -> str:
    """The first five of the parts, and how many more there are."""
    return ", ".join(parts[:5]) + (f" and {len(parts) - 5} more" if len(parts) > 5 else "")


class PatternsField(WordsField):
    """Patterns of postal codes, for a column of them."""

    widget = UnfoldAdminTextareaWidget({"rows": 3})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label="Only these postal codes", **kwargs)

    def clean(self, value: Any) -> list[str]:
        """The normalised patterns."""
        given = [part for word in super().clean(value) for part in word.splitlines() if part.strip()]
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
