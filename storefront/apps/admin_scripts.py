"""The scripts of apps on the shop's pages: which there are, which hosts may run theirs, and what browsers blocked."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.apps.admin_forms import AllowedHostForm
from storefront.apps.admin_pages import AsksAndShows
from storefront.apps.models import AllowedScriptHost, BlockedScript, ScriptTag
from storefront.apps.rules import script_host
from storefront.apps.script_hosts import allow_script_host
from storefront.apps.script_reports import without_query
from storefront.kit.format import format_count
from storefront.shops.admin_base import moment

STATES = {"Runs": "success", "Blocked": "danger", "Off": ""}
# By what a policy calls it.
WANTED = {"script-src": "Script", "style-src": "Style", "connect-src": "Call"}


class AllowsHosts(AsksAndShows):
    """An admin of rows that name a script, whose host can be allowed."""

    owners_only = True
    can_add = False
    actions_detail = ["allow"]

    @staticmethod
    def address_of(row: Any) -> str:
        raise NotImplementedError

    @action(description="Allow this host", icon="check", variant=ActionVariant.PRIMARY)
    def allow(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        host = script_host(self.address_of(row))

        def allowed() -> HttpResponse:
            allow_script_host(shop=request.shop, host=host)
            self.log_change(request, row, f"Allowed {host}.")
            self.message_user(request, f"Pages run scripts from {host} from now on.")
            return HttpResponseRedirect(reverse(f"admin:apps_{self.opts.model_name}_changelist"))

        sentences = [
            "They see what shoppers see on these pages, and can change it; the checkout runs none of them.",
            "Allow only a host that you know, such as one that the description of an app names: anybody can make a "
            "browser report a script that no app of yours needs.",
        ]
        title = f"Let the shop's pages run scripts from {host}?"
        return self.ask(request, allowed, title=title, sentences=sentences, button="Allow")


@admin.register(ScriptTag)
class ScriptTagAdmin(AllowsHosts):
    """Apps register and delete their scripts; the merchant can switch one off."""

    can_delete_rows = False
    list_display = ["src", "app", "location", "state"]
    list_select_related = ["shop", "installation__app"]
    search_fields = ["installation__app__name", "src"]
    ordering = ["pk"]
    actions = None
    fieldsets: Any = [(None, {"fields": ["src", "app", "location", "state", "registered", "is_active"]})]

    registered = moment("created_at", "registered")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("shop__allowedscripthost_set")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["src", "app", "location", "state", "registered"]

    def get_actions_detail(self, request: Any, object_id: Any) -> list[Any]:
        row = self.get_object(request, str(object_id))
        return super().get_actions_detail(request, object_id) if row and not _is_allowed(row) else []

    @staticmethod
    def address_of(row: ScriptTag) -> str:
        return row.src

    @display(description="app", ordering="installation__app__name")
    def app(self, row: ScriptTag) -> str:
        return str(row.installation)

    @display(description="state", label=STATES)
    def state(self, row: ScriptTag) -> tuple[str, str]:
        if not row.is_active:
            return "Off", "Off"
        if _is_allowed(row):
            return "Runs", "Runs"
        return "Blocked", f"Blocked: {script_host(row.src)} is not allowed"


def _is_allowed(tag: ScriptTag) -> bool:
    return script_host(tag.src) in {allowed.host for allowed in tag.shop.allowedscripthost_set.all()}


@admin.register(AllowedScriptHost)
class AllowedScriptHostAdmin(AsksAndShows):
    """Hosts whose scripts run: an app's own, which goes with the app, and those that the merchant allowed."""

    form = AllowedHostForm
    owners_only = True
    can_change = False
    list_display = ["host", "allowed_by"]
    list_select_related = ["shop", "installation__app"]
    search_fields = ["host"]
    ordering = ["host"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["host", "allowed_by"] if obj else ["host"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_own = obj is None or obj.installation_id is None
        return is_own and super().has_delete_permission(request, obj)

    def save_model(self, request: Any, obj: AllowedScriptHost, form: Any, change: bool) -> None:
        obj.pk = allow_script_host(shop=request.shop, host=obj.host).pk

    @display(description="allowed by")
    def allowed_by(self, row: AllowedScriptHost) -> str:
        return f"Installing {row.installation}" if row.installation else "You"


@admin.register(BlockedScript)
class BlockedScriptAdmin(AllowsHosts):
    """What browsers told of; a row is deleted when it has been looked at, or its host was allowed."""

    can_change = False
    list_display = ["source", "app", "what", "page", "count", "last"]
    list_select_related = ["shop"]
    search_fields = ["source"]
    ordering = ["-last_at", "-pk"]
    fieldsets: Any = [(None, {"fields": ["source", "app", "what", "page", "count", "first", "last"]})]

    first, last = moment("first_at", "first"), moment("last_at", "last")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("shop__scripttag_set__installation__app")

    @staticmethod
    def address_of(row: BlockedScript) -> str:
        return row.source

    @display(description="script of")
    def app(self, row: BlockedScript) -> str:
        apps = {str(tag.installation) for tag in row.shop.scripttag_set.all() if without_query(tag.src) == row.source}
        return ", ".join(sorted(apps)) or "–"

    @display(description="what")
    def what(self, row: BlockedScript) -> str:
        return WANTED.get(row.directive, row.directive)

    @display(description="times", ordering="times")
    def count(self, row: BlockedScript) -> str:
        return format_count(row.times)
