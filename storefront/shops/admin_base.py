"""What every admin class stands on: rows, choices, filters and actions of the session's shop alone.

Rights follow the user's place in the shop (`StaffMember`), not Django's permission rows. Another shop's row is a
404, the same as one that never was.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.contrib.filters.admin import RelatedDropdownFilter

from storefront.kit.format import format_money, format_time
from storefront.kit.refusals import Refusal
from storefront.shops import changes
from storefront.shops.admin_forms import ShopScopedForm

CHANGED_MEANWHILE = "Somebody changed the same thing at the same moment. Nothing was saved; please look and try again."


class ScopedToShop:
    """Shared by pages and inlines: which rows are there, which can be chosen, and who may do what."""

    form = ShopScopedForm
    shop_lookup = "shop"
    owners_only = False
    can_add = can_change = can_delete_rows = True
    model: type[models.Model]
    admin_site: admin.AdminSite

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        rows = super().get_queryset(request)  # type: ignore[misc]
        return rows.filter(**{self.shop_lookup: request.shop.pk})  # type: ignore[attr-defined]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", choices_of(db_field.related_model, request, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs.setdefault("queryset", choices_of(db_field.related_model, request, self.admin_site))
        return super().formfield_for_manytomany(db_field, request, **kwargs)  # type: ignore[misc]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, models.URLField):
            kwargs["assume_scheme"] = "https"
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
        if field and "rows" in field.widget.attrs and db_field.name != "description":
            field.widget.attrs["rows"] = 3
        return field

    def _may_enter(self, request: HttpRequest, row: Any = None) -> bool:
        is_owner = getattr(request, "is_owner", None)  # absent before anybody has entered a shop
        return is_owner is not None and (is_owner or not self.owners_only)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._may_enter(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may_enter(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_add and self._may_enter(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_change and self._may_enter(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.can_delete_rows and self._may_enter(request)


class ShopScopedAdmin(ScopedToShop, ModelAdmin):
    """One kind of the shop's rows."""

    show_full_result_count = False
    list_per_page = 50
    list_filter_submit = True
    warn_unsaved_form = True
    list_select_related: Any = ["shop"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return bind(super().get_form(request, obj, change=change, **kwargs), request)

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        return bind(super().get_changelist_form(request, **{"form": self.form} | kwargs), request)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.save(update_fields=form.changed_columns() if change else None)

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        # Nearly all that a merchant saves is shown to callers of the API, or decides who is one.
        changes.changed(request.shop.pk)

    def delete_model(self, request: Any, obj: Any) -> None:
        super().delete_model(request, obj)
        changes.changed(request.shop.pk)

    @transaction.atomic
    def delete_queryset(self, request: Any, queryset: models.QuerySet) -> None:
        super().delete_queryset(request, queryset)
        changes.changed(request.shop.pk)

    def row_or_404(self, request: HttpRequest, object_id: str) -> Any:
        """The row that a page of our own is about, which nobody opens who may not open the row's own."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return row

    def done(self, request: HttpRequest, row: Any, text: str) -> HttpResponse:
        """Back to the row's page after a dialog, with a message, and the deed written into its history."""
        self.log_change(request, row, text)
        self.message_user(request, text, messages.SUCCESS)
        return self.back_to(request, row)

    def back_to(self, request: HttpRequest, row: Any) -> HttpResponse:
        url = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[quote(row.pk)])
        # A dialog is sent by htmx, which would put a redirect's page into the dialog.
        return HttpResponse(status=204, headers={"HX-Redirect": url}) if is_htmx(request) else HttpResponseRedirect(url)

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        raise Http404

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return or_say_why(request, lambda: super(ShopScopedAdmin, self).changeform_view(request, *args, **kwargs))

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return or_say_why(request, lambda: super(ShopScopedAdmin, self).delete_view(request, *args, **kwargs))

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return or_say_why(request, lambda: super(ShopScopedAdmin, self).changelist_view(request, *args, **kwargs))


class ReadOnlyAdmin(ShopScopedAdmin):
    """Rows that the admin shows and never writes."""

    can_add = can_change = can_delete_rows = False
    warn_unsaved_form = False


class ScopedInline(ScopedToShop):
    extra = 0

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)  # type: ignore[misc]
        bind(formset.form, request)
        return formset


class ShopScopedTabularInline(ScopedInline, TabularInline):
    """The shop's rows of one parent, as a table."""


class ShopScopedStackedInline(ScopedInline, StackedInline):
    """The shop's rows of one parent, one under the other."""


class ReadOnlyInline(ShopScopedTabularInline):
    can_add = can_change = can_delete_rows = False
    can_delete = False


class ShopRelatedFilter(RelatedDropdownFilter):
    """A list filter by a related row, which offers the shop's own alone."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        rows = choices_of(field.related_model, request, model_admin.admin_site)
        return [(row.pk, str(row)) for row in rows]


def choices_of(model: type[models.Model], request: HttpRequest, site: admin.AdminSite) -> models.QuerySet:
    """The rows of this kind that the session's shop can choose from, in their admin's order."""
    try:
        ordering = site.get_model_admin(model).get_ordering(request)
    except NotRegistered:
        ordering = ()
    rows = model._default_manager.filter(shop=request.shop)  # type: ignore[attr-defined]
    if any(field.name == "deleted_at" for field in model._meta.fields):
        rows = rows.filter(deleted_at=None)
    return rows.order_by(*ordering) if ordering else rows


def bind(form: type[ShopScopedForm], request: Any) -> type[ShopScopedForm]:
    """Tell the form class, which Django made for this one request, its shop and time."""
    form.shop, form.now = request.shop, request.now
    return form


def or_say_why(request: HttpRequest, view: Callable[[], Any]) -> Any:
    """The view's answer; a refusal becomes a message on the same page, everything rolled back."""
    try:
        return view()
    except Refusal as refusal:
        reasons = [text for texts in (refusal.errors or {}).values() for text in texts]
        messages.error(request, " ".join(reasons) or refusal.text)
    except (IntegrityError, models.ProtectedError):
        # Forms check every constraint first; this is left to two people saving in the same instant.
        messages.error(request, CHANGED_MEANWHILE)
    if is_htmx(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return HttpResponseRedirect(request.get_full_path())


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def money(field: str, title: str | None = None) -> Callable:
    """A column or read-only field that writes an amount with its currency."""

    @admin.display(description=title or field.replace("_", " "), ordering=field)
    def shown(self: Any, row: Any) -> str:
        currency = getattr(row, "currency", None) or row.shop.currency
        return format_money(getattr(row, field), currency)

    return shown


def moment(field: str, title: str | None = None) -> Callable:
    """A column or read-only field that writes a time on the shop's clock."""

    @admin.display(description=title or field.removesuffix("_at").replace("_", " "), ordering=field)
    def shown(self: Any, row: Any) -> str:
        return format_time(getattr(row, field), row.shop.timezone) or "–"

    return shown
