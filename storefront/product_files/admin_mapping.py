"""The page on which somebody maps the columns of an uploaded table that is of no known format."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from storefront import audit
from storefront.product_files.encodings import UnreadableFile
from storefront.product_files.jobs import import_by_mapping
from storefront.product_files.mapped.mapping import (
    CONSTANTS,
    MAX_CONSTANT_LENGTH,
    MAX_SEPARATOR_LENGTH,
    MEMBERS,
    WEIGHT_UNITS,
    Mapping,
    guessed_members,
    named,
)
from storefront.product_files.mapped.samples import preview
from storefront.product_files.models import ProductImport
from storefront.product_files.parsed_products import ParsedProduct, ReadResult
from storefront.shops.rights import Right
from storefront.shops.task_quota import check_tasks
from storefront.staff.admin_parts import PRIMARY, Moves, deed, table

SHOWN_VALUES, MAX_SHOWN_LENGTH = 3, 60


class MappingForm(forms.Form):
    """A choice for each column of the sample, constants, and settings."""

    weight_unit = forms.ChoiceField(
        label=_lazy("Unit of weight"),
        choices=[(unit, unit) for unit in WEIGHT_UNITS],
        initial="kg",
        widget=UnfoldAdminSelectWidget,
    )
    list_separator = forms.CharField(
        label=_lazy("Between categories or tags"),
        max_length=MAX_SEPARATOR_LENGTH,
        initial=",",
        widget=UnfoldAdminTextInputWidget,
    )
    level_separator = forms.CharField(
        label=_lazy("Between a category and its subcategory"),
        max_length=MAX_SEPARATOR_LENGTH,
        initial=">",
        widget=UnfoldAdminTextInputWidget,
    )

    def __init__(self, sample: dict[str, Any], data: Any = None) -> None:
        super().__init__(data)
        self.headers = named(sample["headers"])
        guessed = guessed_members(self.headers)
        for position, header in enumerate(self.headers):
            values = dict.fromkeys(row[1][position] for row in sample["rows"] if row[1][position])
            self.fields[f"column_{position}"] = forms.ChoiceField(
                label=header,
                choices=[("", _("Not imported")), *MEMBERS.items()],
                initial=guessed.get(header, ""),
                required=False,
                widget=UnfoldAdminSelectWidget,
                help_text=" · ".join(value[:MAX_SHOWN_LENGTH] for value in list(values)[:SHOWN_VALUES]) or _("empty"),
            )
        for member in CONSTANTS:
            self.fields[f"constant_{member}"] = forms.CharField(
                label=MEMBERS[member],
                max_length=MAX_CONSTANT_LENGTH,
                required=False,
                widget=UnfoldAdminTextInputWidget,
            )

    def columns(self) -> list[Any]:
        return [self[f"column_{position}"] for position in range(len(self.headers))]

    def others(self) -> list[Any]:
        settings = [self[name] for name in ("weight_unit", "list_separator", "level_separator")]
        return [*(self[f"constant_{member}"] for member in CONSTANTS), *settings]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors:
            for problem in self.mapping().problems(self.headers):
                self.add_error(None, problem[:1].upper() + problem[1:] + ".")
        return given

    def mapping(self) -> Mapping:
        given = self.cleaned_data
        chosen = [(header, given[f"column_{position}"]) for position, header in enumerate(self.headers)]
        constants = {member: given[f"constant_{member}"].strip() for member in CONSTANTS}
        return Mapping(
            {header: member for header, member in chosen if member},
            {member: text for member, text in constants.items() if text},
            given["weight_unit"],
            given["list_separator"],
            given["level_separator"],
        )


class MappingOfImport:
    """Mixin of the imports' admin: the page that maps a file's columns, and what the import's page shows of it."""

    @display(description=_lazy("columns"))
    def mapping_shown(self, row: ProductImport) -> str:
        return table(
            [
                (header, MEMBERS.get(member, member))
                for header, member in (row.mapping or {}).get("columns", {}).items()
            ],
            [_("Column"), _("Read as")],
        )

    @deed(
        _lazy("Map the columns"),
        Right.IMPORT_PRODUCTS,
        Moves.NOTHING,
        icon="table_convert",
        variant=PRIMARY,
        url_path="mapping",
        when=lambda row: row.needs_mapping,
    )
    def map_columns(self, request: Any, row: ProductImport) -> Any:
        if not row.needs_mapping or row.sample is None:
            return _("The columns of this file are mapped already.")
        form = MappingForm(row.sample, request.POST if request.method == "POST" else None)
        context: dict[str, Any] = {
            "title": _("Map the columns of %(file)s") % {"file": row.file_name},
            "form": form,
            "media": self.media,  # type: ignore[attr-defined]
        }
        if request.method == "POST" and form.is_valid():
            if request.POST.get("step") == "import":
                return self._import(request, row, form.mapping())
            context["products"] = self._previewed(request, row, form)
        return self._page(request, context)

    def _page(self, request: Any, context: dict[str, Any]) -> HttpResponse:
        return self.page(request, "catalogue/admin/import_mapping.html", **context)  # type: ignore[attr-defined]

    def _previewed(self, request: Any, row: ProductImport, form: MappingForm) -> list[dict[str, Any]]:
        assert row.sample is not None
        try:
            return [_shown(each) for each in preview(row.sample, form.mapping(), shop=request.shop, now=request.now)]
        except UnreadableFile as refusal:
            form.add_error(None, refusal.text)
            return []

    def _import(self, request: Any, row: ProductImport, mapping: Mapping) -> str:
        check_tasks(shop=request.shop)
        place = audit.current_place()
        if import_by_mapping(row=row, mapping=mapping, uploaded_from=place, now=request.now):
            return _("The file is being imported. The mapping is kept for the next file with these columns.")
        return _("The columns of this file are mapped already.")


def _shown(result: ReadResult) -> dict[str, Any]:
    """A product of the preview, or the problems that keep it from being imported."""
    if not isinstance(result, ParsedProduct):
        return {"problems": [str(each) for each in getattr(result, "problems", [])]}
    fields = result.fields
    problems = [result.refusal_if_new] if result.refusal_if_new else []
    return {
        "line": result.line,
        "name": fields.get("name", ""),
        "sku": result.keys.sku,
        "price": str(fields.get("price", "")),
        "stock": str(fields.get("stock_qty", "")) if fields.get("track_inventory", True) else "",
        "variants": [each.fields["name"] for each in result.variants or ()],
        "categories": [" > ".join(each.names) for each in result.categories or ()],
        "pictures": len(result.media or ()),
        "problems": problems + [str(each) for each in result.warnings],
    }
