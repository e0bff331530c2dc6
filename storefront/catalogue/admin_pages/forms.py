"""The admin's forms for products and what belongs to them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.catalogue import rules, translated_slugs
from storefront.catalogue.actions import unique_slug
from storefront.catalogue.admin_pages.categories_tree import TreeWidget, tree_rows
from storefront.catalogue.admin_pages.layout import HELP, LABELS
from storefront.catalogue.admin_pages.pictures import check_picture as check_picture
from storefront.catalogue.admin_pages.rows import (
    Column,
    RowsField,
    as_values,
    attribute_rows,
    attributes_of,
    choice_rows,
)
from storefront.catalogue.dated import sale_periods
from storefront.catalogue.events import Snapshot
from storefront.catalogue.models import Category, Option, Product, Variant
from storefront.staff.admin_forms import ShopScopedForm, WordsField
from storefront.staff.admin_translations import field_name

WAS = Column("was", "", is_hidden=True)
PRICE_HOLDS = _lazy(
    "The sale price applies now. Change it, or the regular price, which is the previous price (crossed out) until the"
    " end."
)
TOO_LONG = _lazy("This is too much to store. Shorten it.")
TRANSLATIONS_TOO_LONG = _lazy("The translations are too much to store. Shorten them.")
NEGATIVE = _lazy("The stock would fall below zero. Set it to zero or more, or allow backorders.")


def check_slug(slug: str) -> None:
    if not rules.is_slug(slug):
        raise forms.ValidationError(_("A slug cannot contain spaces or the characters / ? # % \\"))


class StockForm(ShopScopedForm):
    """The stock and the prices of a product or variant.

    Stock is written as the difference from the value that the form showed, so that orders placed meanwhile stay
    counted. A price counts as changed if it differs from the one that the form showed, so that a sale that begins or
    ends meanwhile is not undone. Hidden fields return the values that were shown.
    """

    COUNTED = ("stock_qty", "damaged_qty")
    constraint_errors = {
        "product_damaged_not_negative": (
            "damaged_qty",
            _lazy("More units have been sold in the meantime than would remain."),
        ),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in LABELS.items():
            if name in self.fields:
                self.fields[name].label = label
        for name, text in HELP.items():
            if name in self.fields:
                self.fields[name].help_text = text
        for name in [*self._counted(), *self._priced()]:
            self.fields[name].show_hidden_initial = True

    def _priced(self) -> list[str]:
        return [name for name in sale_periods.COLUMNS if name in self.fields and not self.instance._state.adding]

    def _counted(self) -> list[str]:
        return [name for name in self.COUNTED if name in self.fields and not self.instance._state.adding]

    def clean(self) -> None:
        super().clean()
        for name in self._counted():
            if name in self.cleaned_data:
                self.cleaned_data[name] = self.initial[name] + self._difference(name)
        for name in self._priced():
            if name not in self.changed_data:
                self.cleaned_data[name] = getattr(self.instance, name)
        if "price" in self.changed_data and sale_periods.holds(self.instance):
            self.add_error("price", PRICE_HOLDS)

    def _post_clean(self) -> None:
        super()._post_clean()
        before = 0 if self.instance._state.adding else self.initial.get("stock_qty", 0)
        if "stock_qty" in self.changed_data and rules.falls_below_zero(self.instance, before):
            self.add_error("stock_qty", NEGATIVE)
        given = {name: self.cleaned_data[name] for name in self.changed_data if name in self.cleaned_data}
        if not self.errors and given.keys() & {*sale_periods.COLUMNS, "is_gift_card"}:
            sale_periods.forget_dates(self.instance, given)
            for name, problem in sale_periods.problems(self.instance, given, self.now).items():
                self.add_error(name if name in self.fields else None, problem)
            sale_periods.settle(self.instance, self.now)

    def changed_columns(self) -> list[str]:
        return sale_periods.columns_to_write(super().changed_columns())

    def _difference(self, name: str) -> int:
        if name not in self.changed_data:
            return 0
        seen = self.data.get(self[name].html_initial_name, "")
        try:
            return int(self[name].data) - int(seen)
        except (TypeError, ValueError):
            # Without the hidden field, as a program may post it, the number is the new stock.
            return self.cleaned_data[name] - self.initial[name]

    def set_stock_difference(self) -> None:
        """Make the row's next save add the difference to the stock that is in the table then."""
        for name in self._counted():
            if name in self.changed_data:
                setattr(self.instance, name, F(name) + (getattr(self.instance, name) - self.initial[name]))

    def save(self, commit: bool = True) -> Any:
        if commit and not self.instance._state.adding:
            self.set_stock_difference()
        return super().save(commit)


def check_translated_slugs(form: Any) -> None:
    """Add what is wrong with the slugs in further languages to their fields."""
    if getattr(form, "are_texts_changed", False):
        for language, problem in translated_slugs.problems(form.instance).items():
            name = field_name("slug", language)
            form.add_error(name if name in form.fields else None, problem)


class ProductForm(StockForm):
    # The product before the form wrote to it; empty for a new product.
    before = Snapshot()
    # The values of each choice that the variants of the product have.
    option_values: list[dict[str, str]] = []
    # The catalogue's refusal, when the form is shown again.
    refused = ""
    slug = forms.CharField(
        required=False,
        max_length=rules.MAX_SLUG_LENGTH,
        validators=[check_slug],
        widget=UnfoldAdminTextInputWidget,
        label=_lazy("Web address"),
        help_text=_lazy("Leave empty to make it from the name."),
    )
    tags = WordsField()
    # Not `categories`: Django's admin refuses that name, since the relation has a `through` model.
    in_categories = forms.ModelMultipleChoiceField(
        queryset=Category.objects.none(), required=False, label=_lazy("Categories")
    )
    choices = RowsField(
        [Column("name", _lazy("Choice"), _lazy("Colour")), Column("values", _lazy("Values"), _lazy("Blue, Moss")), WAS],
        label=_lazy("What can shoppers choose?"),
        add=_lazy("Add a choice"),
        help_text=_lazy("Separate values with commas, or with | if a value has a comma."),
    )
    details = RowsField(
        [
            Column("name", _lazy("Name"), _lazy("Material")),
            Column("values", _lazy("Values"), _lazy("Wool, Cotton")),
            WAS,
        ],
        label=_lazy("Details"),
        add=_lazy("Add a detail"),
        help_text=_lazy("Facts that shoppers see and filter by."),
    )
    constraint_errors = {
        **StockForm.constraint_errors,
        "product_slug_once": ("slug", _lazy("Another product of this shop already has this slug.")),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        product = self.instance
        self.initial["choices"] = choice_rows(product, self.option_values)
        kept = [each for each in product.attributes or [] if not each.get("variation")]
        self.initial["details"] = attribute_rows(kept)
        if "in_categories" in self.fields:
            field = self.fields["in_categories"]
            field.queryset = Category.objects.filter(shop=self.shop)  # type: ignore[attr-defined]
            rows = tree_rows(self.shop)
            if rows is None:
                field.widget = AutocompleteSelectMultiple(Product._meta.get_field("categories"), admin.site)
                field.widget.choices = field.choices  # type: ignore[attr-defined]
            else:
                field.widget = TreeWidget(rows)
            if product.pk:
                self.initial["in_categories"] = list(product.categories.values_list("pk", flat=True))
        if "default_variant" in self.fields:
            # A new product has no variants to choose from.
            variants = Variant.objects.filter(shop=self.shop, product_id=product.pk)
            self.fields["default_variant"].queryset = variants  # type: ignore[attr-defined]

    def clean_description(self) -> str:
        return self._cleaned_text("description")

    def clean_short_description(self) -> str:
        return self._cleaned_text("short_description")

    def _cleaned_text(self, name: str) -> str:
        field: Any = self.fields[name]
        return field.tidy(self.cleaned_data[name]) if name in self.changed_data else self.cleaned_data[name]

    def clean_choices(self) -> Any:
        rows = self.cleaned_data["choices"]
        if "choices" in self.changed_data:
            _check_rows(rows, _("Enter a name and values for each choice, such as Colour with Blue, Moss."))
        return rows

    def clean_details(self) -> Any:
        rows = self.cleaned_data["details"]
        if "details" in self.changed_data:
            _check_rows(rows, _("Enter a name and a value for each detail, such as Material with Wool."))
        return rows

    def attributes_with(self, option_values: list[dict[str, str]]) -> list[dict[str, Any]] | None:
        """The product's attributes after this form, if they change, with the values that its variants have now."""
        stored = self.instance.attributes or []
        choices = self.cleaned_data.get("choices")
        details = self.cleaned_data.get("details")
        rows = self.initial["choices"] if choices is None else choices
        if not {"choices", "details"} & set(self.changed_data) and not any(each.get("variation") for each in stored):
            return None
        varying = [each for each in stored if each.get("variation")]
        found = attributes_of(rows, varying, variation=True)
        for each in found:
            used = [values[each["name"]] for values in option_values if values.get(each["name"])]
            each["values"] = list(dict.fromkeys([*each["values"], *used]))
        if not {"choices", "details"} & set(self.changed_data):
            by_name = {each["name"]: each for each in found}
            changed = [by_name.get(each["name"], each) if each.get("variation") else each for each in stored]
            return changed if changed != stored else None
        kept = [each for each in stored if not each.get("variation")]
        return [*found, *(kept if details is None else attributes_of(details, kept))]

    def clean(self) -> None:
        super().clean()
        if self.refused:
            self.add_error(None, self.refused)
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name in self.cleaned_data}
        for name, texts in rules.json_errors(changed).items():
            self.add_error(name, texts)
        if rules.json_errors({"translations": self.instance.translations}):
            self.add_error(None, TRANSLATIONS_TOO_LONG)
        check_translated_slugs(self)
        are_named = not {"choices", "details"} & self.errors.keys()
        if are_named and rules.json_errors({"attributes": self.attributes_with([]) or []}):
            self.add_error("details" if "details" in changed else "choices", TOO_LONG)
        start, end = self.cleaned_data.get("publish_at"), self.cleaned_data.get("unpublish_at")
        if start and end and end <= start:
            self.add_error("unpublish_at", _("The end must be after the start."))
        if self.cleaned_data.get("available_from") and not self.cleaned_data.get("is_preorder"):
            self.add_error("available_from", _("Only a pre-order has a date."))
        if not self.cleaned_data.get("slug") and "name" in self.cleaned_data and "slug" not in self.errors:
            self.cleaned_data["slug"] = unique_slug(self.shop, self.cleaned_data["name"])


class OptionForm(ShopScopedForm):
    class Meta:
        model = Option
        fields = ["name", "type", "required", "max_length", "sort_order"]


class BundleItemForm(ShopScopedForm):
    constraint_errors = {"bundle_item_not_itself": ("product", _lazy("A bundle cannot contain itself."))}

    def clean(self) -> None:
        super().clean()
        product, variant = self.cleaned_data.get("product"), self.cleaned_data.get("variant")
        if product and product.pk == self.instance.bundle_id:
            self.add_error("product", _("A bundle cannot contain itself."))
        if product and (problem := rules.bundle_item_problem(product)):
            self.add_error("product", problem)
        if product and variant and variant.product_id != product.pk:
            self.add_error("variant", _("This variant does not belong to %(product)s.") % {"product": product})


class RelatedProductForm(ShopScopedForm):
    constraint_errors = {
        "related_product_not_itself": ("related_product", _lazy("A product cannot be related to itself.")),
        "related_product_once": ("related_product", _lazy("This product is already related in this way.")),
    }


def _check_rows(rows: list[dict[str, str]] | None, problem: str) -> None:
    names = [row["name"] for row in rows or ()]
    if any(not row["name"] or not as_values(row["values"]) for row in rows or ()):
        raise forms.ValidationError(problem)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise forms.ValidationError(_("%(twice)s is listed here twice.") % {"twice": twice})
