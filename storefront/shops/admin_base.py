"""Base classes of the admin: rows, choices, filters and actions of the session's shop only.

Rights come from the user's role in the shop (`shops.rights`), not from Django's permission rows. Another shop's row is
a 404, like a row that does not exist.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField, NotRegistered
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import quote, unquote
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import PermissionDenied
from django.core.paginator import EmptyPage
from django.db import IntegrityError, models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import capfirst
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.dataclasses import UnfoldAction
from unfold.forms import PaginationInlineFormSet
from unfold.paginator import InfinitePaginator
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from storefront.kit.form_fields import FiniteDecimalField
from storefront.kit.format import format_money, format_time
from storefront.kit.money_field import MoneyField
from storefront.kit.refusals import Refusal
from storefront.shops import changes, shown_fields
from storefront.shops.admin_audit import AuditedAdmin
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.admin_lookups import offered_lookups, possible_id, possible_ids
from storefront.shops.rights import Right

NO_SUCH_FILTER = "This list cannot be filtered by that, so it shows all rows."
LAST_PAGE = 1_000_000
CHANGED_MEANWHILE = "Somebody changed the same thing at the same moment. Nothing was saved; please look and try again."


class NoSuchFilter(Refusal):
    message = NO_SUCH_FILTER


class ScopedToShop:
    """Shared by pages and inlines: restricts rows and choices to the shop, and checks rights."""

    form = ShopScopedForm
    shop_lookup = "shop"
    # The right needed for view, add, change, delete, and for each admin action by its name. What is missing here is
    # allowed to nobody.
    rights: Mapping[str, Right] = {}
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


class ShopScopedAdmin(ScopedToShop, AuditedAdmin, ModelAdmin):
    """Admin of a model whose rows belong to a shop."""

    # Query parameters that its lists accept besides those of their filters.
    extra_lookups: frozenset[str] = frozenset()
    view_on_site: Any = False
    show_full_result_count = False
    list_per_page = 50
    list_filter_submit = True
    warn_unsaved_form = True
    list_select_related: Any = ["shop"]
    # The text of an empty list about its future contents.
    empty_text = ""

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        # One button saves.
        context |= {"show_save_and_continue": False, "show_save_and_add_another": False}
        return super().render_change_form(request, context, *args, **kwargs)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """The actions on selected rows that the user's role allows."""
        found = super().get_actions(request)
        return {name: each for name, each in found.items() if name == "delete_selected" or self.may(request, name)}

    def get_unfold_action(self, action: str) -> UnfoldAction:
        """An action with a page of its own: checks the right, and that the row is the shop's. A refusal is shown."""
        found = super().get_unfold_action(action)
        run_action = found.method

        @wraps(run_action)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if not self.may(request, action):
                raise PermissionDenied
            row = self.row_or_404(request, kwargs["object_id"]) if "object_id" in kwargs else None
            try:
                return run_action(request, *args, **kwargs)
            except Refusal as refusal:
                self.message_user(request, sentence_of(refusal), messages.ERROR)
                return self.back_to(request, row)

        found.method = guarded
        return found

    def _filter_unfold_actions_by_permissions(self, request: HttpRequest, actions: Any, object_id: Any = None) -> Any:
        start = len(f"{self.opts.app_label}_{self.opts.model_name}_")
        return [each for each in actions if self.may(request, each.action_name[start:])]

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        offered = offered_lookups(self.model, self.get_list_filter(request))
        return lookup in offered or lookup in self.extra_lookups

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        return to_field == self.opts.pk.name

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        id = possible_id(self.model, str(object_id))
        return None if id is None else super().get_object(request, str(id), from_field)

    def response_action(self, request: HttpRequest, queryset: models.QuerySet) -> Any:
        """Run the action on the posted ids that are valid; others are ignored."""
        posted = request.POST.copy()
        chosen = possible_ids(self.model, posted.getlist(ACTION_CHECKBOX_NAME))
        posted.setlist(ACTION_CHECKBOX_NAME, [str(key) for key in chosen])
        request.POST = posted  # type: ignore[assignment]
        return super().response_action(request, queryset)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return bind(super().get_form(request, obj, change=change, **kwargs), request)

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        return bind(super().get_changelist_form(request, **{"form": self.form} | kwargs), request)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.save(update_fields=form.changed_columns() if change else None)

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        # Nearly everything that a merchant saves affects responses of the API.
        changes.publish_change(request.shop.pk)

    def delete_model(self, request: Any, obj: Any) -> None:
        self.record_deletion(request, [obj])
        super().delete_model(request, obj)
        changes.publish_change(request.shop.pk)

    @transaction.atomic
    def delete_queryset(self, request: Any, queryset: models.QuerySet) -> None:
        self.record_deletion(request, queryset)
        super().delete_queryset(request, queryset)
        changes.publish_change(request.shop.pk)

    def row_or_404(self, request: HttpRequest, object_id: str) -> Any:
        """The row for a page of our own. Raises PermissionDenied without the right to view the row, Http404 without the
        row."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return row

    def done(self, request: HttpRequest, row: Any, text: str) -> HttpResponse:
        """Return to the row's page after a dialog, with a message. The action itself has recorded what was done."""
        self.message_user(request, text, messages.SUCCESS)
        return self.back_to(request, row)

    def back_to(self, request: HttpRequest, row: Any) -> HttpResponse:
        """A redirect to the row's page, or to the list without a row."""
        view, keys = ("change", [quote(row.pk)]) if row else ("changelist", [])
        url = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{view}", args=keys)
        # htmx sends the dialog's form, and would show the target of a plain redirect inside the dialog.
        return HttpResponse(status=204, headers={"HX-Redirect": url}) if is_htmx(request) else HttpResponseRedirect(url)

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        raise Http404

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return refusal_as_message(
            request, lambda: super(ShopScopedAdmin, self).changeform_view(request, *args, **kwargs)
        )

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return refusal_as_message(request, lambda: super(ShopScopedAdmin, self).delete_view(request, *args, **kwargs))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        context = {"title": capfirst(str(self.opts.verbose_name_plural))} | (extra_context or {})
        try:
            return refusal_as_message(request, lambda: super(ShopScopedAdmin, self).changelist_view(request, context))
        except (DisallowedModelAdminLookup, DisallowedModelAdminToField):
            messages.error(request, NO_SUCH_FILTER)
            return HttpResponseRedirect(request.path)

    def listed(self, request: Any) -> models.QuerySet:
        """The rows of the list with this query string, on all its pages. Raises NoSuchFilter."""
        request.GET = request.GET.copy()
        request.GET.pop(PAGE_VAR, None)
        try:
            return self.get_changelist_instance(request).get_queryset(request)
        except (DisallowedModelAdminLookup, DisallowedModelAdminToField, IncorrectLookupParameters):
            raise NoSuchFilter from None


class ReadOnlyAdmin(ShopScopedAdmin):
    """Rows that the admin only shows: `rights` has no right to change them."""

    warn_unsaved_form = False


class EndlessPaginator(InfinitePaginator):
    """Pagination without a total, up to a page number that databases can still skip to."""

    def validate_number(self, number: Any) -> int:
        number = super().validate_number(number)
        if number > LAST_PAGE:
            raise EmptyPage("There are no rows on this page.")
        return number


# Unfold's heading leaves out a count that is none by the name of the class.
EndlessPaginator.__name__ = InfinitePaginator.__name__


class EndlessAdmin(ReadOnlyAdmin):
    """Admin of rows that are too many to count."""

    paginator = EndlessPaginator


class PagedFormSet(PaginationInlineFormSet):
    def get_page_num(self) -> int:
        try:
            return super().get_page_num()
        except ValueError:
            # Unfold accepts ² as a digit, too, which int() does not.
            return 1


class ScopedInline(ScopedToShop):
    extra = 0

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
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
    """Rows that are only shown: `rights` has no right to change them."""

    can_delete = False


def view_and_edit(view: Right, change: Right) -> dict[str, Right]:
    """The `rights` of a page where one right covers adding, changing and deleting."""
    return {"view": view, "add": change, "change": change, "delete": change}


class ShopRelatedFilter(RelatedDropdownFilter):
    """A list filter by a related row, which offers only the shop's rows."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        rows = choices_of(field.related_model, request, model_admin.admin_site)
        return [(row.pk, str(row)) for row in rows]


def may_operate(request: HttpRequest) -> bool:
    """Whether the user is the operator of the deployment, who can see and set more than a shop's owners."""
    return Right.OPERATE in request.rights  # type: ignore[attr-defined]


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
    form.shop, form.now = request.shop, request.now
    if request.method == "POST" and shown_fields.NAME in request.POST:
        if not hasattr(request, "shown_fields"):
            request.shown_fields = shown_fields.read(request.POST[shown_fields.NAME])
        form.shown = request.shown_fields
    return form


def refusal_as_message(request: HttpRequest, view: Callable[[], Any]) -> Any:
    """The view's response. A refusal is rolled back and becomes a message on the same page."""
    try:
        return view()
    except Refusal as refusal:
        messages.error(request, sentence_of(refusal))
    except (IntegrityError, models.ProtectedError):
        # Forms check every constraint first, so this happens only if two people save at the same moment.
        messages.error(request, CHANGED_MEANWHILE)
    if is_htmx(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return HttpResponseRedirect(request.get_full_path())


def sentence_of(refusal: Refusal) -> str:
    """The refusal's text for people: the messages of its fields, or its own message."""
    reasons = [text for texts in (refusal.errors or {}).values() for text in texts]
    return " ".join(reasons) or refusal.text


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def money(field: str, title: str | None = None) -> Callable:
    """A list column or read-only field that shows an amount with its currency."""

    @admin.display(description=title or field.replace("_", " "), ordering=field)
    def shown(self: Any, row: Any) -> str:
        currency = getattr(row, "currency", None) or row.shop.currency
        return format_money(getattr(row, field), currency)

    return shown


def moment(field: str, title: str | None = None) -> Callable:
    """A list column or read-only field that shows a time in the shop's time zone."""

    @admin.display(description=title or field.removesuffix("_at").replace("_", " "), ordering=field)
    def shown(self: Any, row: Any) -> str:
        return format_time(getattr(row, field), row.shop.timezone) or "–"

    return shown


def plain_dialog(title: str, description: str, *, submit: str) -> dict[str, Any]:
    """The `dialog` of an action that asks before it acts, and for nothing else. `submit` is the button's text."""
    return {"title": title, "description": description, "form_class": None, "form_submit_text": submit}
