"""What pages of the admin and tables within them share: rows and choices of the session's shop only, and rights."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest
from unfold.admin import StackedInline, TabularInline
from unfold.forms import PaginationInlineFormSet
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from storefront.kit.form_fields import FiniteDecimalField
from storefront.kit.money_field import MoneyField
from storefront.shops.rights import Right
from storefront.staff import shown_fields
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_translations import Translated


class ScopedToShop(Translated):
    """Shared by pages and inlines: restricts rows and choices to the shop, and checks rights."""

    form = ShopScopedForm
    shop_lookup = "shop"
    # Relations that are read with each row; and columns, such as secrets, that are not read.
    related: tuple[str, ...] = ()
    prefetched: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    # The right needed for view, add, change, delete, and for each admin action by its name. What is missing here is
    # allowed to nobody.
    rights: Mapping[str, Right] = {}
    model: type[models.Model]
    admin_site: admin.AdminSite

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        rows = super().get_queryset(request)  # type: ignore[misc]
        rows = rows.filter(**{self.shop_lookup: request.shop.pk})  # type: ignore[attr-defined]
        # Without names, `select_related` would read everything.
        rows = rows.select_related(*self.related) if self.related else rows
        return rows.prefetch_related(*self.prefetched).defer(*self.deferred)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", choices_of(db_field.related_model, request, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", choices_of(db_field.related_model, request, self.admin_site))
        return super().formfield_for_manytomany(db_field, request, **kwargs)  # type: ignore[misc]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, models.URLField):
            kwargs["assume_scheme"] = "https"
        if isinstance(db_field, MoneyField):
            kwargs.setdefault("widget", UnfoldAdminDecimalFieldWidget)
        if isinstance(db_field, MoneyField | models.DecimalField):
            kwargs.setdefault("form_class", FiniteDecimalField)
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if field and "rows" in field.widget.attrs and db_field.name != "description":
            field.widget.attrs["rows"] = 3
        return field

    def may(self, request: HttpRequest, action: str) -> bool:
        """Whether the user's role in the session's shop has the right for this action, a key of `rights`."""
        right = self.rights.get(action)
        # A request without a shop has no rights.
        return right is not None and right in getattr(request, "rights", ())

    def require(self, request: HttpRequest, action: str) -> None:
        """Raises PermissionDenied without the right for this action."""
        if not self.may(request, action):
            raise PermissionDenied

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "view")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "view")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "add")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "change")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "delete")


class PagedFormSet(PaginationInlineFormSet):
    def get_page_num(self) -> int:
        try:
            return super().get_page_num()
        except ValueError:
            # Unfold accepts ² as a digit, too, which int() does not.
            return 1


class ShownFormSet(PagedFormSet):
    """Rows that are only shown. Nothing that is sent changes which."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound:
            keys = [row.pk for row in self.get_queryset()]
            self.data = {f"{self.prefix}-{kind}_FORMS": len(keys) for kind in ("TOTAL", "INITIAL")}
            self.data |= {f"{self.prefix}-{number}-{self.model._meta.pk.name}": key for number, key in enumerate(keys)}


class ScopedInline(ScopedToShop):
    """A table within a page. Without `rights` of its own, whoever may see and change the page may do so here, too."""

    extra = 0
    is_read_only = False
    # How many rows its page can add to those that it shows.
    max_new_rows = 100

    @classmethod
    def take_rights(cls, of_page: Mapping[str, Right]) -> None:
        deeds = {"view": "view", **({} if cls.is_read_only else dict.fromkeys(("add", "change", "delete"), "change"))}
        cls.rights = cls.rights or {name: of_page[needs] for name, needs in deeds.items() if needs in of_page}
        for inline in getattr(cls, "inlines", ()):
            inline.take_rights(of_page)

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        if codes := self.languages(request, obj):
            kwargs.setdefault("form", self.form_in_languages(request, codes))
        formset = super().get_formset(request, obj, **kwargs)  # type: ignore[misc]
        bind(formset.form, request)
        return formset


class ShopScopedTabularInline(ScopedInline, TabularInline):
    """The shop's rows of one parent, as a table."""

    formset: Any = PagedFormSet


class ShopScopedStackedInline(ScopedInline, StackedInline):
    """The shop's rows of one parent, one under the other."""

    formset: Any = PagedFormSet


class ReadOnlyInline(ShopScopedTabularInline):
    """Rows that are only shown."""

    formset = ShownFormSet
    is_read_only = True
    related = ("shop",)
    can_delete = False


class ShopRelatedFilter(admin.RelatedFieldListFilter):
    """A list filter by a related row, which offers only the shop's rows. They are read when it is opened."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[Any]:
        self.rows = choices_of(field.related_model, request, model_admin.admin_site)
        return []

    def has_output(self) -> bool:
        return self.rows.exists()

    def choices(self, changelist: Any) -> Any:
        self.lookup_choices = [(row.pk, str(row)) for row in self.rows]
        return super().choices(changelist)

    def chosen_text(self) -> str:
        """The chosen row's name; empty without a choice."""
        if self.lookup_val_isnull:
            return str(self.empty_value_display)
        return ", ".join(map(str, self.rows.filter(pk__in=self.lookup_val or [])))


def choices_of(model: type[models.Model], request: HttpRequest, site: admin.AdminSite) -> models.QuerySet:
    """The shop's rows of this model that a form can offer, in the order of the model's admin. Without deleted rows."""
    try:
        ordering = site.get_model_admin(model).get_ordering(request)
    except NotRegistered:
        ordering = ()
    rows = model._default_manager.filter(shop=request.shop)  # type: ignore[attr-defined]
    if any(field.name == "deleted_at" for field in model._meta.fields):
        rows = rows.filter(deleted_at=None)
    return rows.order_by(*ordering) if ordering else rows


def bind(form: type[ShopScopedForm], request: Any) -> type[ShopScopedForm]:
    """Set shop, time and what the sent page showed on the form class, which Django created for this request."""
    form.shop, form.now, form.is_held = request.shop, request.now, getattr(request, "is_held", False)
    if request.method == "POST" and shown_fields.NAME in request.POST:
        if not hasattr(request, "shown_fields"):
            request.shown_fields = shown_fields.read(request.POST[shown_fields.NAME])
        form.shown = request.shown_fields
    return form
