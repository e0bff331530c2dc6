"""The admin's forms for products and their children."""

import json
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.db.models import F
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.catalogue import rules
from storefront.catalogue.actions import unique_slug
from storefront.catalogue.events import Snapshot
from storefront.catalogue.models import Category, Media, Option, Product, Variant
from storefront.kit import pictures
from storefront.shops.admin_forms import ShopScopedForm, WordsField

# Labels of columns whose names merchants would not understand.
LABELS = {
    "stock_qty": "Stock",
    "damaged_qty": "Damaged units",
    "damaged_price": "Price of damaged units",
    "track_inventory": "Track stock",
    "allow_backorders": "Allow backorders",
    "low_stock_threshold": "Low stock threshold",
    "compare_price": "Compare-at price",
    "cost_price": "Cost price",
    "allow_custom_price": "Let shoppers choose the price",
    "min_custom_price": "Minimum price",
    "noindex": "Hide from search engines",
    "exclude_from_catalog": "Hide from product lists",
    "publish_at": "Publish on",
    "unpublish_at": "Unpublish on",
}
NEGATIVE = "The stock is below zero. Set it to zero or more, or allow backorders."


class StockForm(ShopScopedForm):
    """Stock is written as the difference from the value that the form showed, so that orders placed meanwhile stay
    counted. A hidden field returns the value that was shown.
    """

    COUNTED = ("stock_qty", "damaged_qty")
    constraint_errors = {
        "product_stock_holds": ("stock_qty", NEGATIVE),
        "variant_stock_holds": ("stock_qty", NEGATIVE),
        "product_damaged_not_negative": ("damaged_qty", "More units have been sold in the meantime than would remain."),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in LABELS.items():
            if name in self.fields:
                self.fields[name].label = label
        for name in self._counted():
            self.fields[name].show_hidden_initial = True

    def _counted(self) -> list[str]:
        return [name for name in self.COUNTED if name in self.fields and not self.instance._state.adding]

    def clean(self) -> None:
        super().clean()
        for name in self._counted():
            if name in self.cleaned_data:
                self.cleaned_data[name] = self.initial[name] + self._difference(name)

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


class PairsField(forms.CharField):
    """Names, each with a value: `Colour: Blue; Size: M`."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        texts = [*value, *value.values()]
        if any(mark in text for text in texts for mark in ":;"):
            return json.dumps(value, ensure_ascii=False)
        return "; ".join(f"{name}: {text}" for name, text in value.items())

    def to_python(self, value: Any) -> Any:
        text = (value or "").strip()
        if text.startswith("{"):
            return _parsed(text)
        pairs = [pair.partition(":") for pair in text.split(";") if pair.strip()]
        if any(not mark or not name.strip() or not given.strip() for name, mark, given in pairs):
            raise forms.ValidationError("Enter names and values, such as Colour: Blue; Size: M.")
        return {name.strip(): given.strip() for name, _, given in pairs}

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return (initial or {}) != self.to_python(data)
        except forms.ValidationError:
            return True


class ProductForm(StockForm):
    # The product before the form wrote to it; empty for a new product.
    before = Snapshot()
    slug = forms.CharField(
        required=False,
        max_length=rules.LONGEST_SLUG,
        widget=UnfoldAdminTextInputWidget,
        help_text="Last part of the product's web address. Leave empty to create it from the name.",
    )
    tags = WordsField()
    # Not `categories`: Django's admin refuses that name, since the relation has a `through` model.
    in_categories = forms.ModelMultipleChoiceField(queryset=Category.objects.none(), required=False, label="Categories")
    constraint_errors = {
        **StockForm.constraint_errors,
        "product_slug_once": ("slug", "Another product of this shop already has this slug."),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "in_categories" in self.fields:
            field = self.fields["in_categories"]
            field.queryset = Category.objects.filter(shop=self.shop)  # type: ignore[attr-defined]
            field.widget = AutocompleteSelectMultiple(Product._meta.get_field("categories"), admin.site)
            field.widget.choices = field.choices  # type: ignore[attr-defined]
            if self.instance.pk:
                self.initial["in_categories"] = list(self.instance.categories.values_list("pk", flat=True))
        if "default_variant" in self.fields:
            # A new product has no variants to choose from.
            variants = Variant.objects.filter(shop=self.shop, product_id=self.instance.pk)
            self.fields["default_variant"].queryset = variants  # type: ignore[attr-defined]

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"].strip()
        if slug and not rules.is_slug(slug):
            raise forms.ValidationError("A slug cannot contain spaces or the characters / ? # % \\")
        return slug

    def clean(self) -> None:
        super().clean()
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name in self.cleaned_data}
        for name, texts in rules.json_errors(changed).items():
            self.add_error(name, texts)
        start, end = self.cleaned_data.get("publish_at"), self.cleaned_data.get("unpublish_at")
        if start and end and end <= start:
            self.add_error("unpublish_at", "The end must be after the start.")
        if not self.cleaned_data.get("slug") and "name" in self.cleaned_data and "slug" not in self.errors:
            self.cleaned_data["slug"] = unique_slug(self.shop, self.cleaned_data["name"])


class VariantForm(StockForm):
    option_values = PairsField(required=False, label="Option values", help_text="Such as Colour: Blue; Size: M.")


class OptionForm(ShopScopedForm):
    class Meta:
        model = Option
        fields = ["name", "type", "required", "sort_order"]


class MediaForm(ShopScopedForm):
    constraint_errors = {"media_has_source": ("file", "Upload a picture or enter its URL.")}

    def clean_file(self) -> Any:
        file = self.cleaned_data.get("file")
        if file and "file" in self.changed_data:
            check_picture(file)
        return file

    def clean_source_url(self) -> str:
        url = self.cleaned_data["source_url"].strip()
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise forms.ValidationError("Enter a URL such as https://cdn.example.com/cup.jpg.")
        return url

    class Meta:
        model = Media
        fields = ["file", "source_url", "alt", "sort_order"]


class BundleItemForm(ShopScopedForm):
    constraint_errors = {"bundle_item_not_itself": ("product", "A bundle cannot contain itself.")}

    def clean(self) -> None:
        super().clean()
        product, variant = self.cleaned_data.get("product"), self.cleaned_data.get("variant")
        if product and product.pk == self.instance.bundle_id:
            self.add_error("product", "A bundle cannot contain itself.")
        if product and variant and variant.product_id != product.pk:
            self.add_error("variant", f"This variant does not belong to {product}.")


class RelatedProductForm(ShopScopedForm):
    constraint_errors = {
        "related_product_not_itself": ("related_product", "A product cannot be related to itself."),
        "related_product_once": ("related_product", "This product is related in this way already."),
    }


def check_picture(file: Any) -> None:
    """Raise ValidationError with the file's name for an upload that pages cannot show."""
    if file.size > pictures.LARGEST_FILE:
        most = pictures.LARGEST_FILE // 1024**2
        raise forms.ValidationError(f"{file.name} is too large. Pictures up to {most} MiB can be uploaded.")
    try:
        file.seek(0)
        pictures.open_picture(file)
    except pictures.Unusable as problem:
        raise forms.ValidationError(f"{file.name} {problem}.") from None
    finally:
        file.seek(0)


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        raise forms.ValidationError("This is not valid JSON for this field.") from None
    if errors := rules.json_errors({"option_values": value}):
        raise forms.ValidationError(errors["option_values"])
    return value
