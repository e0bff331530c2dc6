"""Editing chosen products together: a form, then what it would change, then the change."""

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue import bulk_edits
from storefront.catalogue.bulk_edits import BulkEdit, apply_edit, digest_of, plan_edit
from storefront.catalogue.inventory.ledger import Author
from storefront.catalogue.models import Category, Product
from storefront.catalogue.parsing import MAX_INTEGER
from storefront.kit.format import format_count
from storefront.kit.money import MAX_AMOUNT, ZERO, problem_of
from storefront.kit.refusals import Refusal
from storefront.shops.rights import Right
from storefront.staff.admin_base import sentence_of
from storefront.staff.admin_parts import Moves, chosen_deed

# Lines of the planned change that the page shows, besides their number.
SHOWN_LINES = 100


class BulkForm(forms.Form):
    price_how = forms.ChoiceField(
        label=_lazy("Price"),
        required=False,
        choices=[
            ("", _lazy("Keep")),
            ("set", _lazy("Set to")),
            ("percent", _lazy("Change by percent")),
            ("by", _lazy("Change by an amount")),
        ],
    )
    price = forms.DecimalField(
        label=_lazy("Price, percent or amount"),
        required=False,
        max_digits=14,
        decimal_places=2,
        min_value=-MAX_AMOUNT,
        max_value=MAX_AMOUNT,
    )
    stock_how = forms.ChoiceField(
        label=_lazy("Stock"),
        required=False,
        choices=[("", _lazy("Keep")), ("set", _lazy("Set to")), ("by", _lazy("Change by"))],
    )
    stock = forms.IntegerField(label=_lazy("Units"), required=False, min_value=-MAX_INTEGER, max_value=MAX_INTEGER)
    status = forms.ChoiceField(
        label=_lazy("Status"), required=False, choices=[("", _lazy("Keep")), *Product.Status.choices]
    )
    add_category = forms.ModelChoiceField(
        label=_lazy("Add to the category"), required=False, queryset=Category.objects.none(), empty_label=_lazy("None")
    )
    remove_category = forms.ModelChoiceField(
        label=_lazy("Remove from the category"),
        required=False,
        queryset=Category.objects.none(),
        empty_label=_lazy("None"),
    )

    def __init__(self, shop: Any, data: Any = None) -> None:
        super().__init__(data, prefix="edit")
        self.currency = shop.currency
        categories = Category.objects.filter(shop=shop).order_by("lft")
        paths = _paths(categories.values_list("pk", "name", "lft", "rgt"))
        for name in ("add_category", "remove_category"):
            field: Any = self.fields[name]
            field.queryset, field.choices = categories, [("", _("None")), *paths]
        for field in self.fields.values():
            field.widget.attrs["class"] = "field"

    def clean(self) -> None:
        given = self.cleaned_data
        for how, number in (("price_how", "price"), ("stock_how", "stock")):
            if given.get(how) and given.get(number) is None and number not in self.errors:
                self.add_error(number, _("Enter a number."))
            elif not given.get(how) and given.get(number) is not None:
                self.add_error(how, _("Choose what to do with the number."))
            elif given.get(how) == "set" and (given.get(number) or 0) < 0:
                self.add_error(number, _("Enter zero or more."))
        problem = problem_of(given.get("price") or ZERO, self.currency)
        if given.get("price_how") in ("set", "by") and problem:
            self.add_error("price", _("The price %(problem)s.") % {"problem": problem})
        if given.get("price_how") == "percent" and (given.get("price") or 0) < -100:
            self.add_error("price", _("A price can fall by 100 percent at most."))
        if given.get("add_category") and given.get("add_category") == given.get("remove_category"):
            self.add_error("remove_category", _("Choose another category than the one to add."))
        if not self.errors and not any(value not in (None, "") for value in given.values()):
            raise forms.ValidationError(_("Choose what to change."))

    def edit(self) -> BulkEdit:
        """The edit that a valid form describes."""
        given = self.cleaned_data
        return BulkEdit(
            price=(given["price_how"], given["price"]) if given["price_how"] else None,
            stock=(given["stock_how"], given["stock"]) if given["stock_how"] else None,
            status=given["status"],
            add_category=given["add_category"],
            remove_category=given["remove_category"],
        )


def _paths(rows: Iterable[tuple[int, str, int, int]]) -> Iterator[tuple[int, str]]:
    """The id of each category with its path: many branches have a category of the same name."""
    above: list[tuple[str, int]] = []
    for id, name, lft, rgt in rows:
        above = [each for each in above if each[1] > lft]
        above.append((name, rgt))
        yield id, " › ".join(each for each, _end in above)


class BulkEditAdmin:
    """The action on chosen products, for their admin."""

    @chosen_deed(_lazy("Edit price, stock, status or category"), Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def edit_chosen(self, request: Any, queryset: QuerySet) -> Any:
        step = request.POST.get("edit-step", "")
        form = BulkForm(request.shop, request.POST if step else None)
        planned = None
        if step and form.is_valid():
            try:
                # By id: a list that is filtered by what changes would lose the rows meanwhile.
                chosen_ids = list(queryset.values_list("pk", flat=True)[: bulk_edits.MAX_PRODUCTS + 1])
                products = Product.objects.filter(shop=request.shop, pk__in=chosen_ids)
                if step == "apply":
                    self._apply(request, products, form.edit())
                    return None
                planned = plan_edit(request.shop, products, form.edit())
            except Refusal as refusal:
                form.add_error(None, sentence_of(refusal))
        lines = [(each.product, *line) for each in planned or () for line in each.lines]
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        context = {
            **self.admin_site.each_context(request),  # type: ignore[attr-defined]
            "title": _("Edit products"),
            "opts": Product._meta,
            "media": self.media,  # type: ignore[attr-defined]
            "bulk": form,
            "chosen": chosen,
            "select_across": request.POST.get("select_across", "0"),
            "count": queryset.count(),
            "planned": planned,
            "lines": lines[:SHOWN_LINES],
            "line_count": len(lines),
            "digest": digest_of(planned) if planned else "",
            "back": request.get_full_path(),
        }
        return TemplateResponse(request, "catalogue/admin/bulk_edit.html", context)

    def _apply(self, request: Any, products: QuerySet, edit: BulkEdit) -> None:
        digest, author = request.POST.get("edit-digest", ""), Author(user=request.user)
        count = apply_edit(
            shop=request.shop, products=products, edit=edit, digest=digest, author=author, now=request.now
        )
        message = "1 product was changed." if count == 1 else f"{format_count(count)} products were changed."
        self.message_user(request, message, messages.SUCCESS)  # type: ignore[attr-defined]
