import re
from typing import Any

from django import forms
from django.contrib import admin
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget

from storefront.kit.format import format_count
from storefront.kit.money import ZERO, problem_of
from storefront.kit.refusals import Refusal
from storefront.pricing import codes
from storefront.pricing.discount_kinds import KINDS, with_field
from storefront.pricing.models import Discount, DiscountCode, DiscountGroup, DiscountTarget
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm, possible_ids
from storefront.staff.admin_parts import Moves, asks, column, deed, layout, moment, view_and_edit
from storefront.staff.admin_scope import ShopScopedTabularInline
from storefront.staff.table_files import csv_download, import_page

RIGHTS = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
_CODE_OF_ROW = re.compile(r"codes-[0-9]+-code\Z")


def clean_code(text: str) -> str:
    """The code as it is stored. Raises ValidationError for a text that cannot be one."""
    code = codes.normal_code(text)
    if not codes.is_well_formed(code):
        raise forms.ValidationError(_("Use letters, digits, hyphens and underscores; begin with a letter or digit."))
    return code


class WithoutCode(Refusal):
    code = "discount_without_code"
    message = _lazy("This discount would have no code: somebody else has just used it. Enter another one.")


class DiscountForm(ShopScopedForm):
    """The discount with one code beside the switch "needs a code"; further codes are rows of their own."""

    code = forms.CharField(required=False, max_length=codes.MAX_LENGTH, widget=UnfoldAdminTextInputWidget)

    constraint_errors = {
        "discount_value_range": ("value", _lazy("Enter a percentage from 0 to 100.")),
        "discount_buy_get_pieces": ("buy_qty", _lazy("Enter how many pieces to buy, and how many of them cost less.")),
        "discount_uses_within_limit": (
            "use_limit",
            _lazy("More orders than that have used it. Make it inactive to end it."),
        ),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        has_codes = self.instance.pk is not None and self.instance.codes.exists()
        field = self.fields["code"]
        if "name" in self.fields:
            self.fields["name"].required = False
            self.fields["name"].help_text = _(
                "Shoppers see it in the basket and on the order. If empty, the code is shown."
            )
        field.label = _("Another code") if has_codes else _("Code")
        field.help_text = (
            _("What shoppers enter, such as SPRING10, in any case. Its codes are listed under Discount codes.")
            if has_codes
            else _("What shoppers enter, such as SPRING10, in any case. For a discount without a code, see below.")
        )

    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("needs_code"):
            self._clean_codes()
        elif self.data.get("code", "").strip():
            self.add_error("needs_code", _("A code is entered. Switch this on, or remove the code."))
        if not self.cleaned_data.get("name") and "name" not in self.errors:
            self._name_by_code()
        starts, ends = self.cleaned_data.get("starts_at"), self.cleaned_data.get("ends_at")
        if starts and ends and ends <= starts:
            self.add_error("ends_at", _("The end must be after the start."))
        kind = KINDS.get(self.cleaned_data.get("kind") or "")
        if not self.cleaned_data.get("value") and (kind is None or "value" in kind.fields):
            self.add_error("value", _("Enter how much it takes off."))
        problem = problem_of(self.cleaned_data.get("value") or ZERO, self.shop.currency)
        if kind is not None and kind.is_money and problem:
            self.add_error("value", _("The amount %(problem)s.") % {"problem": problem})

    def _name_by_code(self) -> None:
        if code := self.cleaned_data.get("code"):
            self.cleaned_data["name"] = code
        else:
            self.add_error("name", _("Enter a name, which shoppers see."))

    # True if the discount may stay without a code, since it had none.
    was_without = False

    def _clean_codes(self) -> None:
        """Check the code. A discount that needs a code must have one, or nobody could use it. A discount that was saved
        without any can still be changed, but not activated."""
        given, self.was_without = self.cleaned_data.get("code"), self._was_without()
        if given:
            try:
                self.cleaned_data["code"] = code = clean_code(given)
            except forms.ValidationError as error:
                self.add_error("code", error)
            else:
                if DiscountCode.objects.filter(shop=self.shop, code=code).exists():
                    self.add_error("code", _("This shop has this code already."))
        elif "code" not in self.errors and not self._keeps_a_code() and not self.was_without:
            self.add_error("code", _("Enter a code, since this discount is only for those who have one."))

    def _keeps_a_code(self) -> bool:
        """Returns True if a code is left once the rows of this page are saved."""
        # Locked, so that two people who remove the last codes at once do so one after the other.
        Discount.objects.select_for_update(no_key=True).filter(shop=self.shop, pk=self.instance.pk).first()
        posted = [name.removesuffix("-code") for name in self.data if _CODE_OF_ROW.match(name)]
        if any(self.data[f"{row}-code"].strip() and not self.data.get(f"{row}-DELETE") for row in posted):
            return True
        shown = possible_ids(DiscountCode, [self.data.get(f"{row}-id", "") for row in posted])
        return DiscountCode.objects.filter(shop=self.shop, discount=self.instance.pk).exclude(pk__in=shown).exists()

    def _was_without(self) -> bool:
        """Returns True if the discount needed a code and had none before, and is not activated now."""
        begins = "is_active" in self.changed_data and self.cleaned_data["is_active"]
        is_old = self.instance.pk is not None and "needs_code" not in self.changed_data
        return is_old and not begins and not self.instance.codes.exists()


ALREADY = {
    "product": _lazy("This discount already has this product."),
    "category": _lazy("This discount already has this category."),
    "brand": _lazy("This discount already has this brand."),
}


class TargetForm(ShopScopedForm):
    constraint_errors = {
        "discount_target_is_one": (
            "product",
            _lazy("Choose either a product, a category or a brand. Use a row for each."),
        ),
        **{f"discount_target_{name}_once": (name, text) for name, text in ALREADY.items()},
    }


class DiscountTargetInline(ShopScopedTabularInline):
    model = DiscountTarget
    form = TargetForm
    fields = ["product", "category", "brand"]
    autocomplete_fields = ["product", "category", "brand"]
    ordering = ["id"]
    per_page = 50
    tab = True


class DiscountGroupInline(ShopScopedTabularInline):
    model = DiscountGroup
    fields = ["group"]
    autocomplete_fields = ["group"]
    ordering = ["id"]
    tab = True


class CodeForm(ShopScopedForm):
    constraint_errors = {
        "discount_code_once": ("code", _lazy("This shop has this code already.")),
        "discount_code_uses_within_limit": ("use_limit", _lazy("More orders than that have used it.")),
    }

    def clean_code(self) -> str:
        return clean_code(self.cleaned_data["code"])

    def save(self, commit: bool = True) -> Any:
        if self.instance._state.adding:
            self.instance.created_at = self.now
        return super().save(commit)


class DiscountCodeInline(ShopScopedTabularInline):
    model = DiscountCode
    form = CodeForm
    fields = ["code", "use_limit", "uses"]
    readonly_fields = ["uses"]
    ordering = ["id"]
    per_page = 50
    tab = True


class GenerateForm(BaseDialogForm):
    count = forms.IntegerField(
        label=_lazy("How many"), min_value=1, max_value=codes.MAX_AT_ONCE, widget=UnfoldAdminIntegerFieldWidget
    )
    prefix = forms.CharField(
        label=_lazy("Begin with"),
        required=False,
        max_length=codes.MAX_PREFIX,
        widget=UnfoldAdminTextInputWidget,
        help_text=_lazy("Such as SPRING-. Ten random characters follow."),
    )
    use_limit = forms.IntegerField(
        label=_lazy("Uses per code"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        initial=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_lazy("Leave empty for any number."),
    )


EXPLANATION = _lazy(
    "A CSV file with the column code and, if you like, limit: for how many orders each can be used; empty for any"
    " number. A file from “Download codes” works, too; its uses are ignored. New codes are added, codes that the"
    " discount already has get the file’s limit, and others stay as they are. If anything is wrong with a line, nothing"
    " is imported."
)


def used_of(row: Discount) -> str:
    if not row.is_counted:
        return _("not counted")
    return (
        _("%(used)s of %(most)s") % {"used": format_count(row.uses), "most": format_count(row.use_limit)}
        if row.use_limit is not None
        else format_count(row.uses)
    )


@admin.register(Discount)
class DiscountAdmin(ShopScopedAdmin):
    icon = "percent"
    empty_text = _lazy("Give a discount to everybody, or to those with a code.")
    form = DiscountForm
    rights = RIGHTS
    moves = Moves.MONEY
    list_display = ["name", "reduction", "how", "used", "starts", "ends", "is_active"]
    list_filter = ["is_active", "needs_code", "kind"]
    search_fields = ["name", "codes__code"]
    ordering = ["name", "id"]
    inlines = [DiscountCodeInline, DiscountTargetInline, DiscountGroupInline]
    translated = ("name",)
    fieldsets: Any = layout(
        "code name kind value buy_qty get_qty needs_code is_active",
        "Applies to: minimum_subtotal is_limited_to_items includes_subcategories is_limited_to_groups is_combinable",
        "How long and how often: starts_at ends_at use_limit customer_limit",
    )
    # Shows only the fields of the chosen kind (Unfold evaluates these in the browser; without scripts all are shown).
    conditional_fields = {
        "includes_subcategories": "is_limited_to_items == true",
    } | {
        field: " || ".join(f"kind == '{kind}'" for kind in with_field(field))
        for field in ("value", "buy_qty", "get_qty")
    }

    starts = moment("starts_at", _lazy("starts"))
    ends = moment("ends_at", _lazy("ends"))

    def get_changeform_initial_data(self, request: Any) -> dict[str, Any]:
        # A code that is forgotten is asked for, instead of a discount for everybody.
        return {"needs_code": True} | super().get_changeform_initial_data(request)

    def get_fieldsets(self, request: Any, obj: Any = None) -> Any:
        """Hides the entry of a code from users who may only view."""
        groups = super().get_fieldsets(request, obj)
        if self.has_change_permission(request):
            return groups
        (title, first), *others = groups
        return [(title, {"fields": [name for name in first["fields"] if name != "code"]}), *others]

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if code := form.cleaned_data["code"]:
            # The same code may be among the rows that were just saved.
            given = {"discount": form.instance, "created_at": request.now}
            DiscountCode.objects.get_or_create(shop=request.shop, code=code, defaults=given)
        if form.cleaned_data["needs_code"] and not form.was_without and not form.instance.codes.exists():
            # Another discount got the code meanwhile.
            raise WithoutCode

    def construct_change_message(self, request: Any, form: Any, formsets: Any, add: bool = False) -> Any:
        made = super().construct_change_message(request, form, formsets, add)
        if code := form.cleaned_data["code"]:
            made.after["code"] = code
        return made

    reduction = column(_lazy("reduction"), lambda row: KINDS[row.kind].reduction(row), by="value")
    how = column(
        _lazy("applies"), lambda row: _("with a code") if row.needs_code else _("automatically"), by="needs_code"
    )

    used = column(_lazy("uses"), used_of, by="uses")

    @deed(_lazy("Create codes"), Right.CHANGE_PRICES, Moves.MONEY, icon="password")
    @asks(
        _lazy("Create codes"),
        _lazy("Creates random codes that nobody can guess. Download them afterwards."),
        _lazy("Create codes"),
        GenerateForm,
    )
    def generate(self, request: Any, discount: Any, form: Any) -> str:
        given = {name: form.cleaned_data[name] for name in ("count", "prefix", "use_limit")}
        made = codes.create_codes(shop=request.shop, discount=discount, now=request.now, **given)
        text = ngettext("%(count)s code created.", "%(count)s codes created.", len(made))
        return text % {"count": format_count(len(made))}

    @deed(_lazy("Download codes"), Right.VIEW_PRICES, Moves.MONEY, icon="download", url_path="codes.csv")
    def download_codes(self, request: Any, discount: Any) -> Any:
        return csv_download(f"codes-{discount.pk}.csv", codes.export_codes(request.shop, discount))

    @deed(_lazy("Import codes"), Right.CHANGE_PRICES, Moves.MONEY, icon="upload", url_path="import-codes")
    def import_codes(self, request: Any, discount: Any) -> Any:
        def load(content: bytes) -> str:
            found = codes.import_codes(shop=request.shop, discount=discount, content=content, now=request.now)
            return _("Codes imported: %(added)s added, %(changed)s with another limit, %(same)s unchanged.") % {
                "added": format_count(found.added),
                "changed": format_count(found.changed),
                "same": format_count(found.same),
            }

        back = reverse("admin:pricing_discount_change", args=[discount.pk])
        title = _("Import codes of %(discount)s") % {"discount": discount}
        return import_page(self, request, load, title=title, explanation=EXPLANATION, back=back)
