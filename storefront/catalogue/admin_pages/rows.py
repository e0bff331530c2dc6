"""Fields of a form that consist of rows: choices, attributes, translations. What is stored is JSON; nobody sees it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.models import Product
from storefront.kit.text import Text
from storefront.staff.form_rows import MAX_ROWS_OF_FIELD

Row = dict[str, str]
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Column:
    """One field of each row. One that `is_fixed` is only shown, and posted as it is."""

    name: str
    label: Text
    placeholder: Text = ""
    is_hidden: bool = False
    is_fixed: bool = False


class RowsWidget(forms.Widget):
    """A table of rows, in the form as `<name>-<number>-<column>`, with their count as `<name>-rows`."""

    template_name = "catalogue/admin/rows.html"
    use_fieldset = True

    def __init__(self, columns: list[Column], add: str) -> None:
        super().__init__()
        self.columns, self.add = columns, add

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[Row] | None:
        count = str(data.get(f"{name}-rows") or "")
        if not count.isascii() or not count.isdigit():
            return None
        rows = (
            {column.name: data.get(f"{name}-{number}-{column.name}", "").strip() for column in self.columns}
            for number in range(min(int(count), MAX_ROWS_OF_FIELD))
        )
        return list(rows)

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return f"{name}-rows" not in data

    def posted(self, name: str, rows: list[Row]) -> dict[str, str]:
        """The form's fields for these rows."""
        given = {f"{name}-{number}-{key}": text for number, row in enumerate(rows) for key, text in row.items()}
        return given | {f"{name}-rows": str(len(rows))}

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        rows = value or []
        numbered = [(str(number), row) for number, row in enumerate(rows)]
        context["widget"] |= {
            "rows": [self._cells(name, number, row) for number, row in numbered],
            "empty": self._cells(name, "__row__", {}),
            "count": len(rows),
            "columns": [column for column in self.columns if not column.is_hidden],
            "add": self.add,
        }
        return context

    def _cells(self, name: str, number: str, row: Row) -> list[dict[str, Any]]:
        cells = []
        for column in self.columns:
            cells.append(
                {"column": column, "name": f"{name}-{number}-{column.name}", "value": row.get(column.name, "")}
            )
        return cells


ADD = _lazy("Add a row")


class RowsField(forms.Field):
    """Rows as a list of texts by column. Rows that are empty are left out; None if the form did not have the field."""

    def __init__(self, columns: list[Column], *, add: Any = ADD, **given: Any) -> None:
        super().__init__(widget=RowsWidget(columns, add), required=False, **given)
        self.visible = [column.name for column in columns if not column.is_hidden]

    def to_python(self, value: list[Row] | None) -> list[Row] | None:
        return None if value is None else [row for row in value if any(row.get(name) for name in self.visible)]

    def has_changed(self, initial: Any, data: Any) -> bool:
        rows = self.to_python(data)
        return rows is not None and rows != self.to_python(initial or [])


def as_text(values: list[str]) -> str:
    """Values as one line: with commas, or with bars if a value has a comma."""
    texts = [value.replace("|", r"\|") for value in values]
    if any("," in text or "|" in text for text in texts):
        return " | ".join(texts) if len(texts) > 1 else f"{texts[0]} |"
    return ", ".join(texts)


def as_values(text: str) -> list[str]:
    """The values of a line as people type it, each once."""
    parts = _BAR.split(text) if _BAR.search(text) else text.split(",")
    values = (part.strip().replace(r"\|", "|") for part in parts)
    return list(dict.fromkeys(value for value in values if value))


def attribute_rows(attributes: list[dict[str, Any]]) -> list[Row]:
    """Rows of attributes. `was` is the name that a row was shown with: by it, members that no form shows are kept."""
    return [
        {"name": each["name"], "values": as_text(each.get("values", [])), "was": each["name"]} for each in attributes
    ]


def attributes_of(rows: list[Row], stored: list[dict[str, Any]], **members: Any) -> list[dict[str, Any]]:
    """The attributes in the rows, with the other members of the stored attributes of the same name."""
    known = {each["name"]: each for each in stored}
    return [
        known.get(row.get("was") or row["name"], {})
        | {"name": row["name"], "values": as_values(row["values"])}
        | members
        for row in rows
    ]


def choice_names(product: Product, option_values: list[dict[str, str]]) -> list[str]:
    """The names of what variants of the product differ by: its attributes for that, then what else variants have."""
    names = [each["name"] for each in product.attributes or [] if each.get("variation")]
    return list(dict.fromkeys([*names, *(name for values in option_values for name in values)]))


def choice_rows(product: Product, option_values: list[dict[str, str]]) -> list[Row]:
    """The choices of a product as rows, each with the values that are listed or that a variant has."""
    listed = {each["name"]: each.get("values", []) for each in product.attributes or [] if each.get("variation")}
    rows = []
    for name in choice_names(product, option_values):
        used = (values[name] for values in option_values if values.get(name))
        values = list(dict.fromkeys([*listed.get(name, []), *used]))
        rows.append({"name": name, "values": as_text(values), "was": name})
    return rows
