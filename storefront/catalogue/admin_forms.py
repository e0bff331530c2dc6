"""The merchant's forms for products and what belongs to them."""

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
from storefront.catalogue.events import Known
from storefront.catalogue.models import Category, Media, Option, Product, Variant
from storefront.shops.admin_forms import ShopScopedForm, WordsField

# What merchants call columns whose names programs know.
LABELS = {
    "stock_qty": "Stock",
    "damaged_qty": "Damaged pieces",
    "damaged_price": "Price of damaged pieces",
    "track_inventory": "Count the stock",
    "allow_backorders": "Sell past zero stock",
    "low_stock_threshold": "Low from",
    "compare_price": "Former price",
    "cost_price": "Buying price",
    "allow_custom_price": "Shoppers name the price",
    "min_custom_price": "Smallest price named",
    "noindex": "Keep out of search engines",
    "exclude_from_catalog": "Leave out of lists",
    "publish_at": "Public from",
    "unpublish_at": "Public until",
}
LARGEST_PICTURE = 20 * 1024 * 1024
NEGATIVE = "The stock is below zero. Bring it to zero or above, or let the goods be sold past it."


class StockForm(ShopScopedForm):
    """Stock is written as the difference to what the merchant saw, so that orders that came in meanwhile stay counted.

    What the form showed comes back in a hidden field beside it.
    """

    COUNTED = ("stock_qty", "damaged_qty")
    constraint_errors = {
        "product_stock_holds": ("stock_qty", NEGATIVE),
        "variant_stock_holds": ("stock_qty", NEGATIVE),
        "product_damaged_not_negative": ("damaged_qty", "More were sold meanwhile than would be left."),
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
            # A program that posts the form without what it showed means the number itself.
            return self.cleaned_data[name] - self.initial[name]

    def stock_as_difference(self) -> None:
        """Make the row's next save count on from what stands in the table at that moment."""
        for name in self._counted():
            if name in self.changed_data:
                setattr(self.instance, name, F(name) + (getattr(self.instance, name) - self.initial[name]))

    def save(self, commit: bool = True) -> Any:
        if commit and not self.instance._state.adding:
            self.stock_as_difference()
        return super().save(commit)


class PairsField(forms.CharField):
    """Names with a value each: `Colour: Blue; Size: M`."""

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
            raise forms.ValidationError("Expected names and values such as Colour: Blue; Size: M.")
        return {name.strip(): given.strip() for name, _, given in pairs}

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return (initial or {}) != self.to_python(data)
        except forms.ValidationError:
            return True


class ProductForm(StockForm):
    # What apps knew of the product before the form wrote to it: nothing, of a new one.
    before = Known()
    slug = forms.CharField(
        required=False,
        max_length=rules.LONGEST_SLUG,
        widget=UnfoldAdminTextInputWidget,
        help_text="The product's place in the shop's addresses. Empty: made of the name.",
    )
    tags = WordsField()
    # Not `categories`: Django's admin refuses that name, since the relation has a table of its own.
    in_categories = forms.ModelMultipleChoiceField(queryset=Category.objects.none(), required=False, label="Categories")
    constraint_errors = {
        **StockForm.constraint_errors,
        "product_slug_once": ("slug", "Another product of this shop has this slug."),
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
            # Without a row yet there is no variant to choose.
            variants = Variant.objects.filter(shop=self.shop, product_id=self.instance.pk)
            self.fields["default_variant"].queryset = variants  # type: ignore[attr-defined]

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"].strip()
        if slug and not rules.is_slug(slug):
            raise forms.ValidationError("A slug has no spaces and none of the characters / ? # % and \\.")
        return slug

    def clean(self) -> None:
        super().clean()
        for name, texts in rules.json_errors(self.cleaned_data).items():
            self.add_error(name, texts)
        begins, ends = self.cleaned_data.get("publish_at"), self.cleaned_data.get("unpublish_at")
        if begins and ends and ends <= begins:
            self.add_error("unpublish_at", "The end is before the beginning.")
        if not self.cleaned_data.get("slug") and "name" in self.cleaned_data and "slug" not in self.errors:
            self.cleaned_data["slug"] = unique_slug(self.shop, self.cleaned_data["name"])


class VariantForm(StockForm):
    option_values = PairsField(required=False, label="Is", help_text="Such as Colour: Blue; Size: M.")


class OptionForm(ShopScopedForm):
    class Meta:
        model = Option
        fields = ["name", "type", "required", "sort_order"]


class MediaForm(ShopScopedForm):
    constraint_errors = {"media_has_source": ("file", "Upload a picture or give its address.")}

    def clean_file(self) -> Any:
        file = self.cleaned_data.get("file")
        if file and getattr(file, "size", 0) > LARGEST_PICTURE and "file" in self.changed_data:
            raise forms.ValidationError("Pictures up to 20 MiB can be uploaded.")
        return file

    def clean_source_url(self) -> str:
        url = self.cleaned_data["source_url"].strip()
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise forms.ValidationError("Expected an address such as https://cdn.example.com/cup.jpg.")
        return url

    class Meta:
        model = Media
        fields = ["file", "source_url", "alt", "sort_order"]


class BundleItemForm(ShopScopedForm):
    constraint_errors = {"bundle_item_not_itself": ("product", "A bundle cannot hold itself.")}

    def clean(self) -> None:
        super().clean()
        product, variant = self.cleaned_data.get("product"), self.cleaned_data.get("variant")
        if product and product.pk == self.instance.bundle_id:
            self.add_error("product", "A bundle cannot hold itself.")
        if product and variant and variant.product_id != product.pk:
            self.add_error("variant", f"This is not a variant of {product}.")


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        raise forms.ValidationError("This is not the JSON that it looks like.") from None
    if errors := rules.json_errors({"option_values": value}):
        raise forms.ValidationError(errors["option_values"])
    return value
