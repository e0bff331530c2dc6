"""CSV files that a page of the admin exports, and imports completely or not at all."""

import csv
from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminFileFieldWidget

from storefront.kit.files.tables import UnusableTable
from storefront.kit.text import Text
from storefront.staff.admin_base import ShopScopedAdmin


class ImportForm(forms.Form):
    file = forms.FileField(label=_lazy("CSV file"), widget=UnfoldAdminFileFieldWidget)


def import_page(
    page: ShopScopedAdmin, request: HttpRequest, load: Callable[[bytes], str], **context: Text
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
    return page.page(request, "shops/admin/import_table.html", form=form, problems=problems, **context)


def csv_download(name: str, rows: Iterable[Iterable[Any]]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(rows)
    return response
