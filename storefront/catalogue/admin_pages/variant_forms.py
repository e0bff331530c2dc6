"""The rows of the table of variants, and the form of a variant's own page."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue import rules
from storefront.catalogue.admin_pages.forms import StockForm
from storefront.catalogue.models import Media, Product, Variant
from storefront.shops.models import Shop
from storefront.staff.admin_scope import PagedFormSet

NEW_PICTURE = "new-"
IN_ORDERS = _lazy(
    "Orders contain %(variants)s. Untick “For sale” to stop selling what has been ordered; it cannot be removed."
)
OTHERS_DIFFER = _lazy(
    "This product has more variants than the page shows, and the others have choices with other names. Keep the names."
)
SAME = _lazy("Another variant has the same values.")


class ChoiceValuesWidget(forms.Widget):
    """A variant's value of each choice. The form has them as `<name>-<number of the choice>`."""

    template_name = "catalogue/admin/choice_values.html"
    # Names of the choices, in their order; empty if not entered yet.
    names: list[str] = []

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[str] | None:
        if not any(f"{name}-{number}" in data for number in range(len(self.names))):
            return None
        return [str(data.get(f"{name}-{number}", "")).strip() for number in range(len(self.names))]

    def posted(self, name: str, value: Any) -> dict[str, str]:
        """The form's fields for these values."""
        return {f"{name}-{number}": text for number, text in enumerate(self._texts(value))}

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        cells = zip(self.names, self._texts(value), strict=True)
        context["widget"]["cells"] = [
            {"name": f"{name}-{number}", "label": label or _("Value"), "value": text}
            for number, (label, text) in enumerate(cells)
        ]
        return context

    def _texts(self, value: Any) -> list[str]:
        if isinstance(value, dict):
            return [value.get(name, "") for name in self.names]
        return [*(value or []), *[""] * len(self.names)][: len(self.names)]


class ChoiceValuesField(forms.Field):
    """The values of a variant, by the name of their choice."""

    widget = ChoiceValuesWidget

    def to_python(self, value: list[str] | None) -> dict[str, str] | None:
        if value is None:
            return None
        pairs = [pair for pair in zip(self.widget.names, value, strict=True) if pair[1]]
        if any(not name for name, _value in pairs):
            raise ValidationError(_("Enter the name of the choice as well, such as Colour."))
        return dict(pairs)

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            found = self.to_python(data)
        except ValidationError:
            return True
        return found is not None and found != (initial or {})


class VariantForm(StockForm):
    # The names of the product's choices, in the order of the form.
    choice_names: list[str] = []
    option_values = ChoiceValuesField(required=False, label=_lazy("Values"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "option_values" in self.fields:
            self.fields["option_values"].widget.names = self.choice_names
        if "name" in self.fields:
            self.fields["name"].required = False

    def clean_option_values(self) -> dict[str, str]:
        given = self.cleaned_data["option_values"]
        return (self.initial.get("option_values") or {}) if given is None else given

    def clean(self) -> None:
        super().clean()
        if "name" not in self.fields or "name" in self.errors:
            return
        values, before = self.cleaned_data.get("option_values") or {}, self.initial.get("option_values") or {}
        made = " / ".join(values.values())[:500]
        # A name that was made of the values follows them.
        if not self.cleaned_data.get("name") or (
            made and "name" not in self.changed_data and self.cleaned_data["name"] == " / ".join(before.values())
        ):
            self.cleaned_data["name"] = made
        if not self.cleaned_data["name"]:
            self.add_error("name", _("Enter a value, or a name."))

    def changed_columns(self) -> list[str]:
        return sorted({*super().changed_columns(), *(["name"] if "option_values" in self.changed_data else [])})


class VariantRowForm(VariantForm):
    """A row of the table. `picture` is the id of one of the product's pictures, or `new-3` for the fourth row of the
    form's pictures, which becomes one when the form is saved."""

    picture = forms.CharField(required=False, max_length=30, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["picture"] = str(self.instance.image_id or "")
        of = f", {self.instance.name}" if self.instance.pk else ""
        for name, bound in self.fields.items():
            bound.widget.attrs["aria-label"] = f"{bound.label or name}{of}"
        for name in ("price", "stock_qty", "sku"):
            if name in self.fields:
                self.fields[name].widget.attrs["data-column"] = name

    def clean_picture(self) -> str:
        chosen = self.cleaned_data["picture"]
        if chosen and not chosen.startswith(NEW_PICTURE) and "picture" in self.changed_data:
            id = rules.as_id(chosen)
            pictures = Media.objects.filter(shop=self.shop, product=self.instance.product_id or 0)
            if id is None or not pictures.filter(pk=id).exists():
                raise ValidationError(_("Choose one of the product's pictures."))
        return chosen


class VariantFormSet(PagedFormSet):
    """The rows together: no two of them with the same values, and none is removed that was ordered."""

    instance: Product

    def clean(self) -> None:
        super().clean()
        shop: Shop = self.form.shop
        kept = [form for form in self.forms if form not in self.deleted_forms and hasattr(form, "cleaned_data")]
        shown = [form.instance.pk for form in self.forms if form.instance.pk]
        others = Variant.objects.filter(shop=shop, product=self.instance.pk or 0).exclude(pk__in=shown)
        elsewhere = list(others.values_list("option_values", flat=True))
        self._check_values(kept, elsewhere)
        if {name for values in elsewhere for name in values} - set(self.form.choice_names):
            raise ValidationError(OTHERS_DIFFER)
        removed = [form.instance for form in self.deleted_forms if form.instance.pk]
        if ordered := _ordered(shop, removed):
            raise ValidationError(IN_ORDERS % {"variants": ", ".join(variant.name for variant in ordered)})

    def _check_values(self, forms_kept: list[Any], elsewhere: Iterable[dict[str, str]]) -> None:
        seen = {_key(values): None for values in elsewhere if values}
        for form in forms_kept:
            values = form.cleaned_data.get("option_values")
            if not values:
                continue
            key = _key(values)
            first = seen.setdefault(key, form)
            if first is not form and (form.has_changed() or (first is not None and first.has_changed())):
                form.add_error("option_values", SAME)

    def save_new(self, form: Any, commit: bool = True) -> Variant:
        """A new variant comes last, and its stock is counted if the product's is."""
        variant = form.instance
        variant.track_inventory = self.instance.track_inventory
        if not hasattr(self, "_following"):
            orders = Variant.objects.filter(product=self.instance.pk).values_list("sort_order", flat=True)
            self._following = max(orders, default=-1)
        self._following += 1
        variant.sort_order = self._following
        return super().save_new(form, commit)


def _key(values: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, text) for name, text in values.items() if text))


def _ordered(shop: Shop, variants: list[Variant]) -> list[Variant]:
    """The variants among these that an order has. Orders are in a higher room, and are reached by their shop's
    relation."""
    if not variants:
        return []
    lines: Any = Shop._meta.get_field("orderline").related_model
    found = set(lines.objects.filter(shop=shop, variant__in=variants).values_list("variant", flat=True))
    return [variant for variant in variants if variant.pk in found]
