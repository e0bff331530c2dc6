"""Base classes of the admin: rows, choices, filters and actions of the session's shop only.

A page is a class that declares its list (`list_display`, `list_filter`, `search_fields`), its form (`fields` or
`fieldsets`, `new_fields`), its actions (`admin_parts`), who may do what (`rights`) and what that can move (`moves`).

Rights come from the user's role in the shop (`shops.rights`), not from Django's permission rows. Another shop's row is
a 404, like a row that does not exist.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import quote, unquote
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import EmptyPage
from django.db import IntegrityError, models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.dataclasses import UnfoldAction
from unfold.paginator import InfinitePaginator

from storefront.kit.refusals import Refusal
from storefront.kit.text import Text
from storefront.shops import changes, quotas
from storefront.shops.rights import Right
from storefront.staff import held_forms
from storefront.staff.admin_audit import AuditedAdmin
from storefront.staff.admin_forms import offered_lookups, possible_id, possible_ids
from storefront.staff.admin_lists import WithLists
from storefront.staff.admin_parts import ON_CHOSEN, ON_LIST, ON_ROW, OWN_PAGE, Deed, Moves, deeds_of
from storefront.staff.admin_scope import ScopedToShop, bind
from storefront.staff.form_rows import mend_rows

NO_SUCH_FILTER = _lazy("This list cannot be filtered by that, so it shows all rows.")
# What Django raises for a filter that a list does not have, or for a value that is none of the filter's.
NOT_OFFERED = (DisallowedModelAdminLookup, DisallowedModelAdminToField, IncorrectLookupParameters)
LAST_PAGE = 1_000_000
FORMS = ("add", "change", "delete")
CHANGED_MEANWHILE = _lazy(
    "Somebody changed the same thing at the same moment. Nothing was saved; please look and try again."
)


class NoSuchFilter(Refusal):
    message = NO_SUCH_FILTER


class ShopScopedAdmin(ScopedToShop, AuditedAdmin, WithLists):
    """Admin of a model whose rows belong to a shop."""

    # Query parameters that its lists accept besides those of their filters.
    extra_lookups: frozenset[str] = frozenset()
    # The title in the menu and in tabs, unless it is that of the model; and the icon there.
    menu_title: Text = ""
    icon = ""
    # What adding, changing and deleting its rows can move.
    moves: Moves | None = None
    # By name: its actions and pages of its own.
    deeds: Mapping[str, Deed] = {}
    # The fields of the form that adds a row, if they differ from those of its page. There, only `editable` are fields.
    new_fields: list[str] | None = None
    editable: tuple[str, ...] = ()
    # The text of the form's button, where "Save" is not what people call it.
    save_text: Text = ""
    # Adding a row leads to its page instead of the list.
    opens_added = False
    view_on_site: Any = False
    show_full_result_count = False
    list_per_page = 50
    warn_unsaved_form = True
    show_add_link = False  # The list has a labelled button.
    list_select_related: Any = ["shop"]
    # The text of an empty list about its future contents.
    empty_text: Text = ""

    def __init_subclass__(cls, **given: Any) -> None:
        """Complete the lists of actions and `rights` from the declarations of the actions."""
        super().__init_subclass__(**given)
        cls.deeds = deeds_of(cls)
        cls.rights = {**cls.rights, **{name: deed.right for name, deed in cls.deeds.items() if deed.right}}
        for place in (ON_ROW, ON_LIST, ON_CHOSEN):
            if place not in vars(cls) and getattr(cls, place) is not None:
                setattr(cls, place, [name for name, deed in cls.deeds.items() if deed.place == place])
        for inline in cls.inlines:
            inline.take_rights(cls.rights)

    def moved_by(self, name: str, method: str, action: str = "") -> Moves | None:
        """What a request can move to which the page's URL of this name responds; None if nothing declares it. `action`
        is the one that was chosen in the list. Looking at a row, a list or a form moves nothing."""
        if name == "changelist" and action:
            name = {"delete_selected": "delete"}.get(action, action)
        reads = method in ("GET", "HEAD")
        if name in FORMS:
            return self.moves if name in self.rights and not reads else Moves.NOTHING
        if name in ("changelist", "history"):
            return Moves.NOTHING
        deed = self.deeds.get(name)
        if deed is None:
            return None
        return Moves.NOTHING if reads and deed.asks else deed.moves

    def get_urls(self) -> list[Any]:
        own = {name: deed for name, deed in self.deeds.items() if deed.place == OWN_PAGE}
        start = f"{self.opts.app_label}_{self.opts.model_name}"
        pages = [
            path(deed.route, self.admin_site.admin_view(getattr(self, name)), name=f"{start}_{name}")
            for name, deed in own.items()
        ]
        return [*pages, *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_fields(request, obj) if obj or self.new_fields is None else self.new_fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if self.new_fields is None:
            return super().get_readonly_fields(request, obj)
        return [name for name in self.get_fields(request, obj) if name not in self.editable] if obj else []

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        # One button saves.
        context |= {"show_save_and_continue": False, "show_save_and_add_another": False, "save_text": self.save_text}
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
            self.require(request, action)
            row = self.row_or_404(request, kwargs["object_id"]) if "object_id" in kwargs else None
            try:
                return run_action(request, *args, **kwargs)
            except Refusal as refusal:
                self.message_user(request, sentence_of(refusal), messages.ERROR)
                return self.back_to(request, row)

        found.method = guarded
        return found

    def _filter_unfold_actions_by_permissions(self, request: HttpRequest, actions: Any, object_id: Any = None) -> Any:
        return [each for each in actions if self.may(request, self.deed_of(each))]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """The actions that the user's role allows and that are offered on this row."""
        found = super().get_actions_detail(request, object_id)
        row = self.get_object(request, str(object_id)) if found else None
        return [each for each in found if row is not None and self.offers(row, self.deed_of(each))]

    def offers(self, row: Any, name: str) -> bool:
        """Returns False for an action that makes no sense on the row as it is now."""
        when = self.deeds[name].when
        return bool(when is None or when(row))

    def deed_of(self, button: UnfoldAction) -> str:
        return button.action_name.removeprefix(f"{self.opts.app_label}_{self.opts.model_name}_")

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        offered = offered_lookups(self.model, self.get_list_filter(request))
        return lookup in offered or lookup in self.extra_lookups

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        return to_field == self.opts.pk.name

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        id = possible_id(self.model, str(object_id))
        if id is None or request.method != "GET":
            return None if id is None else super().get_object(request, str(id), from_field)
        # A page that is shown reads its row once, with all that belongs to it.
        read, key = request.__dict__.setdefault("rows_read", {}), (self.model, id, from_field)
        if key not in read:
            read[key] = super().get_object(request, str(id), from_field)
        return read[key]

    def response_action(self, request: HttpRequest, queryset: models.QuerySet) -> Any:
        """Run the action on the posted ids that are valid; others are ignored."""
        posted = request.POST.copy()
        chosen = possible_ids(self.model, posted.getlist(ACTION_CHECKBOX_NAME))
        posted.setlist(ACTION_CHECKBOX_NAME, [str(key) for key in chosen])
        request.POST = posted  # type: ignore[assignment]
        return super().response_action(request, queryset)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if codes := self.languages(request, obj):
            kwargs.setdefault("form", self.form_in_languages(request, codes))
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
        self.require(request, "view")
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return row

    def page(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        """A page of our own, with the admin's menu around it."""
        return TemplateResponse(
            request, template, {**self.admin_site.each_context(request), "opts": self.opts, **context}
        )

    def show_secret(self, request: HttpRequest, secret: str, **context: str) -> HttpResponse:
        """A page with the secret, as the response to the POST itself: no session, message or log contains it. The
        context has `title`, `kind`, `use` and `then`, the page to go to."""
        response = self.page(request, "shops/admin/new_secret.html", secret=secret, **context)
        response["Cache-Control"] = "no-store"
        return response

    def once_sure(self, request: HttpRequest, question: Mapping[str, Any], act: Callable[[], HttpResponse]) -> Any:
        """The page that asks first: `title`, what will happen (`sentences`) and its `button`. A POST calls `act`."""
        if request.method == "POST":
            return refusal_as_message(request, act)
        return self.page(request, "shops/admin/sure.html", **{"back": "../change/"} | dict(question))

    def done(self, request: HttpRequest, row: Any, text: str) -> HttpResponse:
        """Return to the row's page after a dialog, with a message. The action itself has recorded what was done."""
        self.message_user(request, text, messages.SUCCESS)
        return self.back_to(request, row)

    def back_to(self, request: HttpRequest, row: Any) -> HttpResponse:
        """A redirect to the row's page, or to the list without a row."""
        view, keys = ("change", [quote(row.pk)]) if row else ("changelist", [])
        return redirect(request, reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{view}", args=keys))

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return self.back_to(request, obj) if self.opens_added else super().response_add(request, obj, post_url_continue)

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        raise Http404

    def changeform_view(self, request: Any, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if held := held_forms.take(request):
            request.method, request.POST, request.is_held = "POST", held, True
        problems = mend_rows(self, request, object_id) if request.method == "POST" else []
        if problems:
            request.is_held = True
        # A form that is held is shown as one that was sent and not accepted: `ShopScopedForm.is_valid` refuses it.
        response = refusal_as_message(
            request, lambda: super(ShopScopedAdmin, self).changeform_view(request, object_id, *args, **kwargs)
        )
        if problems:
            messages.error(request, " ".join(map(str, problems)))
            response.status_code = 422
        return response

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
        except NOT_OFFERED:
            raise NoSuchFilter from None


class ReadOnlyAdmin(ShopScopedAdmin):
    """Rows that the admin only shows: `rights` has no right to change them."""

    warn_unsaved_form = False


class OneRowAdmin(ShopScopedAdmin):
    """A form of which a shop has one: the address of its list leads to it."""

    def the_row(self, request: Any) -> models.Model:
        raise NotImplementedError

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.require(request, "view")
        return self.back_to(request, self.the_row(request))


class EndlessPaginator(InfinitePaginator):
    """Pagination without a total, up to a page number that databases can still skip to."""

    def validate_number(self, number: Any) -> int:
        number = super().validate_number(number)
        if number > LAST_PAGE:
            raise EmptyPage(_("There are no rows on this page."))
        return number


# Unfold's heading leaves out a count that is none by the name of the class.
EndlessPaginator.__name__ = InfinitePaginator.__name__


class EndlessAdmin(ReadOnlyAdmin):
    """Admin of rows that are too many to count."""

    paginator = EndlessPaginator


def count_files(request: Any, form: Any) -> None:
    """Count the bytes of the form's new files in the shop's quota. Call it before they are stored, in the transaction
    that saves the form. Raises QuotaReached."""
    files = [form.cleaned_data.get(name) for name in form.changed_data]
    if size := sum(file.size or 0 for file in files if isinstance(file, UploadedFile)):
        quotas.use("files", shop_id=request.shop.pk, now=request.now, amount=size)


def may_operate(request: HttpRequest) -> bool:
    """Whether the user is the operator of the deployment, who can see and set more than a shop's owners."""
    return Right.OPERATE in request.rights  # type: ignore[attr-defined]


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


def refusals(rows: Iterable[Any], act: Callable[[Any], Any]) -> list[str]:
    """Act on each row by itself, and return the sentences of the rows that were refused: one holds up no other."""
    found = []
    for row in rows:
        try:
            act(row)
        except Refusal as refusal:
            found.append(f"{row}: {sentence_of(refusal)}")
    return found


def sentence_of(refusal: Refusal) -> str:
    """The refusal's text for people: the messages of its fields, or its own message."""
    reasons = [text for texts in (refusal.errors or {}).values() for text in texts]
    return " ".join(reasons) or refusal.text


def redirect(request: HttpRequest, url: str) -> HttpResponse:
    """A redirect. htmx sends the form of a dialog, and would show the target of a plain one inside the dialog."""
    return HttpResponse(status=204, headers={"HX-Redirect": url}) if is_htmx(request) else HttpResponseRedirect(url)


def check_own_site(request: HttpRequest) -> None:
    """Raises PermissionDenied for another site's request: exports are expensive and audited."""
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        raise PermissionDenied(_("This can be exported only from the shop's admin."))


def is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"
