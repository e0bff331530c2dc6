"""Saved views above the admin's lists: staff keep search, filters and sorting under a name, rename and delete it.

A view keeps only what the list itself offers: its search, its filters and its columns. These are stored by name, since
a column's number depends on who looks at the list.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.views.main import ORDER_VAR, SEARCH_VAR, ChangeList
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.kit.ids import as_id
from storefront.kit.refusals import Refusal
from storefront.shops import replica_reads
from storefront.shops.models import SavedView
from storefront.shops.rights import Right
from storefront.staff import saved_views
from storefront.staff.admin_base import NOT_OFFERED, NoSuchFilter, ShopScopedAdmin, redirect, sentence_of
from storefront.staff.admin_parts import Moves, asks, list_deed

VIEW_DEEDS = ["save_view", "rename_view", "remove_view"]
# Which view is renamed or deleted, in the address of the dialog.
CHOSEN_VAR = "saved"
SAVED_FOR_ALL = _lazy(
    "The search, filters and sorting are saved under this name, above the list, for everybody who works in this shop."
)


class NameForm(BaseDialogForm):
    name = forms.CharField(max_length=saved_views.MAX_NAME_LENGTH, widget=UnfoldAdminTextInputWidget)


class RenameForm(NameForm):
    def __init__(self, request: Any, object_id: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        # A view of another list is not shown here: who sees this list need not see that one.
        list = request.resolver_match.url_name.removesuffix("_rename_view").replace("_", ".", 1)
        view = SavedView.objects.filter(shop=request.shop, list=list, pk=_chosen(request)).first()
        self.fields["name"].initial = view.name if view else ""


class WithSavedViews(ShopScopedAdmin):
    """A list with saved views, for whoever has the right `saves_views`."""

    saves_views: Right | None = None
    list_before_template: Any = "shops/admin/list_views.html"

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if cls.saves_views:
            cls.rights = {**cls.rights, **dict.fromkeys(VIEW_DEEDS, cls.saves_views)}

    def tabs_of_list(self, request: Any, query: str) -> list[dict[str, Any]]:
        """The views that the list always has: `title`, `url`, `is_chosen`, and `query`, which need not be saved."""
        return [{"title": _("All"), "url": "?", "is_chosen": not query, "query": ""}]

    def get_actions_list(self, request: HttpRequest) -> list[Any]:
        """Without the deeds that stand above the list, where they keep its filters."""
        beside = [*VIEW_DEEDS, "export_csv"]
        return [each for each in super().get_actions_list(request) if self.deed_of(each) not in beside]

    def changelist_view(self, request: Any, extra_context: Any = None) -> Any:
        show = partial(self._list_view, request, extra_context)
        return replica_reads.answer(request, show) if settings.REPLICAS and request.method == "GET" else show()

    def _list_view(self, request: Any, extra_context: Any) -> Any:
        response = super().changelist_view(request, extra_context)
        context = getattr(response, "context_data", None) or {}
        if "cl" in context:
            context["list_views"] = self._views_above(request, context["cl"])
        return response

    def _views_above(self, request: Any, shown: ChangeList) -> dict[str, Any]:
        """What stands above the list: its views, and what can be done with the chosen one."""
        query = self._query_of(request, shown)
        saved = saved_views.views_of(request.shop, self.opts.label_lower)
        chosen = next((view for view in saved if query and view.query == query), None)
        tabs = self.tabs_of_list(request, query)
        new = chosen is None and query not in [tab["query"] for tab in tabs]
        for tab in tabs:
            tab["is_chosen"] = tab["is_chosen"] and chosen is None
        tabs += [
            {"title": view.name, "url": f"?{_address(view.query, shown)}", "is_chosen": view == chosen}
            for view in saved
        ]
        deeds = {"save_view": _("Save view")} if new else {}
        if chosen:
            deeds = {"rename_view": _("Rename"), "remove_view": _("Delete")}
        offered = [self._offered(request, name, title, chosen) for name, title in deeds.items()]
        export = self._offered(request, "export_csv", _("Export CSV"))
        return {"tabs": tabs if len(tabs) > 1 else [], "deeds": [each for each in offered if each], "export": export}

    def _offered(self, request: Any, name: str, title: str, view: SavedView | None = None) -> dict[str, str] | None:
        """A deed for the list as it is searched and filtered; None if the user may not carry it out."""
        if not self.may(request, name):
            return None
        given = request.GET.copy()
        given.pop(CHOSEN_VAR, None)
        if view:
            given[CHOSEN_VAR] = str(view.pk)
        url = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{name}")
        return {"title": title, "url": f"{url}?{given.urlencode()}" if given else url}

    def _query_of(self, request: Any, shown: ChangeList) -> str:
        """The part of the list's URL that a view stores: the list's own parameters with a value, in a fixed order."""
        kept = QueryDict(mutable=True)
        for name, values in sorted(request.GET.lists()):
            given = [value for value in values if value.strip()]
            if name == ORDER_VAR:
                given = _column_names(given[-1], shown) if given else []
            elif name != SEARCH_VAR and not self.lookup_allowed(name, "", request):
                given = []
            if given:
                kept.setlist(name, given)
        return kept.urlencode()

    @list_deed(_lazy("Save view"), None, Moves.NOTHING)
    @asks(_lazy("Save this view"), SAVED_FOR_ALL, _lazy("Save view"), NameForm)
    def save_view(self, request: Any, form: Any) -> HttpResponse:
        try:
            query = self._query_of(request, self.get_changelist_instance(request))
        except NOT_OFFERED:
            raise NoSuchFilter from None
        name = form.cleaned_data["name"]
        return self._carry_out(
            request, self.save_view, form, saved_views.save_view, _("View “%(view)s” saved."), name=name, query=query
        )

    @list_deed(_lazy("Rename view"), None, Moves.NOTHING)
    @asks(_lazy("Rename this view"), "", _lazy("Rename"), RenameForm)
    def rename_view(self, request: Any, form: Any) -> HttpResponse:
        given = {"name": form.cleaned_data["name"], "view_id": _chosen(request)}
        return self._carry_out(
            request, self.rename_view, form, saved_views.rename_view, _("View “%(view)s” renamed."), **given
        )

    @list_deed(_lazy("Delete view"), None, Moves.NOTHING)
    @asks(
        _lazy("Delete this view?"),
        _lazy("It is deleted for everybody who works in this shop. What it lists is kept."),
        _lazy("Delete view"),
    )
    def remove_view(self, request: Any, form: Any) -> HttpResponse:
        view_id = _chosen(request)
        return self._carry_out(
            request, self.remove_view, form, saved_views.delete_view, _("View “%(view)s” deleted."), view_id=view_id
        )

    def _carry_out(self, request: Any, button: Any, form: Any, act: Callable, done: str, **given: Any) -> HttpResponse:
        """The list as the view shows it. A refused name is shown in the dialog again, beside what was typed."""
        try:
            view = act(shop=request.shop, list=self.opts.label_lower, now=request.now, **given)
        except Refusal as refusal:
            if "name" not in form.fields or isinstance(refusal, saved_views.NoSuchView):
                raise
            form.add_error("name", sentence_of(refusal))
            dialog = button.dialog
            context = {"dialog": dialog, "form": form, "form_submit_text": dialog["form_submit_text"]}
            return render(request, "unfold/helpers/dialog.html", context)
        self.message_user(request, done % {"view": view.name}, messages.SUCCESS)
        left = request.GET.copy()
        left.pop(CHOSEN_VAR, None)
        kept = f"?{left.urlencode()}" if view.pk and left else ""
        return redirect(request, reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist") + kept)


def _chosen(request: HttpRequest) -> int:
    return as_id(request.GET.get(CHOSEN_VAR, "")) or 0


def _column_names(order: str, shown: ChangeList) -> list[str]:
    """A list's sorting as names of columns, such as `-total.number`; empty if it names no column."""
    names = []
    for part in order.split("."):
        number = part.removeprefix("-")
        if number.isascii() and number.isdigit() and len(number) < 3 and int(number) < len(shown.list_display):
            names.append(f"{part[: -len(number)]}{shown.list_display[int(number)]}")
    return [".".join(names)] if names else []


def _address(query: str, shown: ChangeList) -> str:
    """The query string of a saved view on this list. A column that the list no longer has is left out."""
    given = QueryDict(query, mutable=True)
    if ORDER_VAR in given:
        numbers = []
        for part in str(given[ORDER_VAR]).split("."):
            name = part.removeprefix("-")
            if name in shown.list_display:
                numbers.append(f"{'-' if part.startswith('-') else ''}{list(shown.list_display).index(name)}")
        given[ORDER_VAR] = ".".join(numbers)
        if not numbers:
            del given[ORDER_VAR]
    return given.urlencode()
