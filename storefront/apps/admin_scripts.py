"""Admin pages of app scripts: script tags, allowed hosts, and scripts that browsers blocked."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from storefront.apps.admin_forms import AllowedHostForm
from storefront.apps.models import AllowedScriptHost, BlockedScript, ScriptTag
from storefront.apps.rules import script_host
from storefront.apps.script_hosts import allow_script_host
from storefront.apps.script_reports import without_query
from storefront.apps.scripts import blocked_reason
from storefront.kit.format import format_count
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_parts import PRIMARY, Moves, column, deed, layout, moment, sure

STATES = {"Active": "success", "Blocked": "danger", "Off": ""}
# Sentences about what scripts can see and do. The consent page shows them, too.
SEES = (
    "App scripts can see and change the pages that shoppers view, their basket and the prices of their group. They "
    "cannot see the admin, the checkout or accounts, or anything that is typed there."
)
# The type of source that each directive controls.
WANTED = {"script-src": "Script", "style-src": "Style", "connect-src": "Call"}


class ScriptsAdmin(ShopScopedAdmin):
    """An admin of app scripts. Its pages show a warning if no app script runs on this deployment."""

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changelist_view(_with_warning(request), *args, **kwargs)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(_with_warning(request), *args, **kwargs)


def _with_warning(request: HttpRequest) -> HttpRequest:
    reason = blocked_reason()
    if reason and request.method == "GET":
        messages.warning(request, reason)
    return request


def _url_of(row: ScriptTag | BlockedScript) -> str:
    return row.src if isinstance(row, ScriptTag) else row.source


class AllowHostAdmin(ScriptsAdmin):
    """An admin of rows with a script's URL, whose host the merchant can allow."""

    def offers(self, row: Any, name: str) -> bool:
        return not (isinstance(row, ScriptTag) and _is_allowed(row))

    @deed("Allow this host", Right.MANAGE_APPS, Moves.PERSONAL_DATA, icon="check", variant=PRIMARY)
    @sure(
        "",
        "Allow",
        SEES,
        "Allow only hosts that you trust, such as one named in an app's description. Anybody can make a browser"
        " report a script that none of your apps needs.",
        more=lambda request, row: {"title": f"Allow scripts from {script_host(_url_of(row))} on the shop's pages?"},
    )
    def allow(self, request: Any, row: Any) -> HttpResponse:
        host = script_host(_url_of(row))
        allow_script_host(shop=request.shop, host=host, now=request.now)
        self.message_user(request, f"Scripts from {host} are now allowed.")
        return self.back_to(request, None)


@admin.register(ScriptTag)
class ScriptTagAdmin(AllowHostAdmin):
    """Apps register and delete their scripts; the merchant can turn a script off."""

    menu_title = "Scripts"
    empty_text = "Scripts that installed apps run on your shop's pages are listed here."
    rights = {"view": Right.MANAGE_APPS, "change": Right.MANAGE_APPS}
    moves = Moves.PERSONAL_DATA
    list_display = ["src", "app", "location", "state"]
    list_select_related = ["shop", "installation__app"]
    search_fields = ["installation__app__name", "src"]
    ordering = ["pk"]
    actions = None
    fieldsets: Any = layout("src app location state registered is_active")
    prefetched = ("shop__allowedscripthost_set",)
    readonly_fields = ["src", "app", "location", "state", "registered"]

    registered = moment("created_at", "registered")
    app = column("app", lambda row: str(row.installation), by="installation__app__name")

    @display(description="state", label=STATES)
    def state(self, row: ScriptTag) -> tuple[str, str]:
        if not row.is_active:
            return "Off", "Off"
        if blocked_reason():
            return "Blocked", "Blocked everywhere"
        if _is_allowed(row):
            return "Active", "Active"
        return "Blocked", f"Blocked: {script_host(row.src)} is not allowed"


def _is_allowed(tag: ScriptTag) -> bool:
    return script_host(tag.src) in {allowed.host for allowed in tag.shop.allowedscripthost_set.all()}


@admin.register(AllowedScriptHost)
class AllowedScriptHostAdmin(ScriptsAdmin):
    """Hosts whose scripts run: those of installed apps, deleted with the app, and those that the merchant allowed."""

    menu_title = "Allowed hosts"
    empty_text = "Scripts of apps are loaded only from the hosts that you allow."
    form = AllowedHostForm
    rights = {"view": Right.MANAGE_APPS, "add": Right.MANAGE_APPS, "delete": Right.MANAGE_APPS}
    moves = Moves.PERSONAL_DATA
    list_display = ["host", "allowed_by"]
    list_select_related = ["shop", "installation__app"]
    search_fields = ["host"]
    ordering = ["host"]
    new_fields = ["host"]
    fields = ["host", "allowed_by"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_own = obj is None or obj.installation_id is None
        return is_own and super().has_delete_permission(request, obj)

    def save_model(self, request: Any, obj: AllowedScriptHost, form: Any, change: bool) -> None:
        obj.pk = allow_script_host(shop=request.shop, host=obj.host, now=request.now).pk

    allowed_by = column("allowed by", lambda row: f"Installing {row.installation}" if row.installation else "You")


@admin.register(BlockedScript)
class BlockedScriptAdmin(AllowHostAdmin):
    """Scripts that browsers reported as blocked. The merchant deletes rows; allowing a host deletes its rows."""

    empty_text = "Scripts that browsers blocked, because their host is not allowed, are listed here."
    rights = {"view": Right.MANAGE_APPS, "delete": Right.MANAGE_APPS}
    moves = Moves.NOTHING
    list_display = ["source", "app", "what", "page", "count", "last"]
    list_select_related = ["shop"]
    search_fields = ["source"]
    ordering = ["-last_at", "-pk"]
    prefetched = ("shop__scripttag_set__installation__app",)
    fieldsets: Any = layout("source app what page count first last")

    first, last = moment("first_at", "first"), moment("last_at", "last")

    @display(description="app")
    def app(self, row: BlockedScript) -> str:
        apps = {str(tag.installation) for tag in row.shop.scripttag_set.all() if without_query(tag.src) == row.source}
        return ", ".join(sorted(apps)) or "–"

    what = column("type", lambda row: WANTED.get(row.directive, row.directive))
    count = column("times", lambda row: format_count(row.times), by="times")
