"""Price and stock of a product, changed in its row of the list and taken back with one press.

Each value has an address of its own, which answers with the part of the row for htmx, and otherwise with a page, so
that both work without scripts, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.inventory.ledger import Author
from storefront.catalogue.models import Product
from storefront.catalogue.parsing import MAX_INTEGER
from storefront.catalogue.row_edits import ValueChanged, has_own_price, has_own_stock, set_price, set_stock
from storefront.kit.form_fields import FiniteDecimalField
from storefront.kit.format import format_count, format_money
from storefront.kit.money import CENT, MAX_AMOUNT, problem_of
from storefront.kit.refusals import Refusal
from storefront.kit.text import Text
from storefront.staff.admin_base import ShopScopedAdmin, is_htmx, sentence_of
from storefront.staff.admin_parts import Moves, own_page


class PriceForm(forms.Form):
    value = FiniteDecimalField(label=_lazy("Price"), min_value=0, max_value=MAX_AMOUNT, max_digits=14, decimal_places=2)
    seen = FiniteDecimalField(widget=forms.HiddenInput)

    def __init__(self, shop: Any, data: Any = None, **given: Any) -> None:
        super().__init__(data, **given)
        self.currency = shop.currency

    def clean_value(self) -> Decimal:
        value = self.cleaned_data["value"]
        if problem := problem_of(value, self.currency):
            raise forms.ValidationError(_("The price %(problem)s.") % {"problem": problem})
        return value.quantize(CENT)


class StockForm(forms.Form):
    value = forms.IntegerField(label=_lazy("Stock"), min_value=-MAX_INTEGER, max_value=MAX_INTEGER)
    seen = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, shop: Any, data: Any = None, **given: Any) -> None:
        super().__init__(data, **given)


@dataclass(frozen=True)
class RowValue:
    """A value that a row of the list can change: its column of the list and of the table, the right of the page that
    it needs, and how it is shown and set."""

    name: str
    column: str
    field: str
    needs: str
    label: Text
    form: Any
    is_own: Callable[[Product], bool]
    show: Callable[[Any, Product], str]

    def shown(self, product: Product) -> SafeString:
        """The value, as a button that opens it."""
        text = self.show(getattr(product, self.field), product)
        url = reverse(f"admin:catalogue_product_{self.name}", args=[product.pk])
        label = _("%(value)s of %(product)s: %(now)s") % {"value": self.label, "product": product.name, "now": text}
        return format_html(
            '<a href="{0}" hx-get="{0}" hx-target="closest .value" hx-swap="outerHTML" role="button" '
            'class="value__open" aria-label="{1}">{2}</a>',
            *(url, label, text),
        )


PRICE = RowValue(
    *("row_price", "price_shown", "price", "change", _lazy("Price"), PriceForm, has_own_price),
    show=lambda value, product: format_money(value, product.shop.currency),
)
STOCK = RowValue(
    *("row_stock", "stock", "stock_qty", "adjust", _lazy("Stock"), StockForm, has_own_stock),
    show=lambda value, product: format_count(value),
)
VALUES = {value.column: value for value in (PRICE, STOCK)}


class RowValuesAdmin(ShopScopedAdmin):
    """The list of products, whose rows change price and stock."""

    def cell(self, request: HttpRequest, name: str, row: Any) -> SafeString:
        value = VALUES.get(name)
        if value is None or not self.may(request, value.needs):
            return super().cell(request, name, row)
        if row.type == Product.Type.VARIABLE:
            # Variants have the prices and the stock.
            variants = reverse("admin:catalogue_product_change", args=[row.pk])
            return format_html('<a href="{}#variants-group">{}</a>', variants, super().cell(request, name, row))
        if not value.is_own(row):
            return super().cell(request, name, row)
        return format_html('<span class="value">{}</span>', value.shown(row))

    @own_page("<path:object_id>/row-price/", "change", Moves.NOTHING)
    def row_price(self, request: Any, product: Product) -> HttpResponse:
        def act(seen: Decimal, value: Decimal) -> Product:
            return set_price(shop=request.shop, product_id=product.pk, seen=seen, price=value, now=request.now)

        return _change(self, request, product, PRICE, act)

    @own_page("<path:object_id>/row-stock/", "adjust", Moves.NOTHING)
    def row_stock(self, request: Any, product: Product) -> HttpResponse:
        def act(seen: int, value: int) -> Product:
            given = {"reason": _("Set in the list"), "author": Author(user=request.user), "now": request.now}
            return set_stock(shop=request.shop, product_id=product.pk, seen=seen, stock=value, **given)

        return _change(self, request, product, STOCK, act)


def _change(page: Any, request: Any, product: Product, value: RowValue, act: Callable[..., Product]) -> HttpResponse:
    now_is = getattr(product, value.field)
    if request.method != "POST":
        form = value.form(request.shop, initial={"value": now_is, "seen": now_is})
        is_open = value.is_own(product) and "close" not in request.GET
        return _answer(page, request, product, value, form=form if is_open else None)
    form, is_undo = value.form(request.shop, request.POST), "undo" in request.POST
    if not form.is_valid():
        return _answer(page, request, product, value, form=form, problem=_problem_of(form))
    seen, wanted = form.cleaned_data["seen"], form.cleaned_data["value"]
    try:
        changed = act(seen, wanted)
    except ValueChanged as refusal:
        text = value.show(refusal.now_is, product)
        setattr(product, value.field, refusal.now_is)
        if is_undo:
            problem = _("Not undone: somebody changed it to %(now)s.") % {"now": text}
            return _answer(page, request, product, value, problem=problem)
        problem = _("Somebody changed it to %(now)s meanwhile. Save again to replace that.") % {"now": text}
        form = value.form(request.shop, {"value": request.POST["value"], "seen": str(refusal.now_is)})
        return _answer(page, request, product, value, form=form, problem=problem)
    except Refusal as refusal:
        return _answer(page, request, product, value, form=form, problem=sentence_of(refusal))
    changed.shop = request.shop
    before = None if is_undo or wanted == seen else seen
    return _answer(page, request, changed, value, before=before, is_done=True)


def _problem_of(form: forms.Form) -> str:
    """The problem of what was typed; the value that was seen is no field to people."""
    return " ".join(map(str, form.errors.get("value", []))) or _("Somebody changed it meanwhile.")


def _answer(page: Any, request: Any, product: Product, value: RowValue, **context: Any) -> HttpResponse:
    context |= {
        "value": value,
        "product": product,
        "url": reverse(f"admin:catalogue_product_{value.name}", args=[product.pk]),
        "list_url": reverse("admin:catalogue_product_changelist"),
        "shown": value.shown(product) if value.is_own(product) else "",
        "now_is": getattr(product, value.field),
        "title": f"{product.name}: {value.label}",
    }
    if is_htmx(request):
        return render(request, "catalogue/admin/row_value.html", context)
    response = page.page(request, "catalogue/admin/row_value_page.html", **context)
    response.status_code = 422 if context.get("problem") else 200
    return response
