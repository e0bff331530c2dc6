"""Admin pages of app scripts: script tags, allowed hosts, and scripts that browsers blocked."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
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

STATES = {"active": "success", "blocked": "danger", "off": ""}
# Sentences about what scripts can see and do. The consent page shows them, too.
SEES = _lazy(
    "App scripts can see and change the pages that shoppers view, their basket and the prices of their group. They "
    "cannot see the admin, the checkout or accounts, or anything that is typed there."
)
# The type of source that each directive controls.
WANTED = {"script-src": _lazy("Script"), "style-src": _lazy("Style"), "connect-src": _lazy("Call")}


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

    @deed(_lazy("Allow this host"), Right.MANAGE_APPS, Moves.PERSONAL_DATA, icon="check", variant=PRIMARY)
    @sure(
        "",
        _lazy("Allow"),
        SEES,
        _lazy(
            "Allow only hosts that you trust, such as one named in an app's description. Anybody can make a browser"
            " report a script that none of your apps needs."
        ),
        more=lambda request, row: {
            "title": _("Allow scripts from %(row)s on the shop's pages?") % {"row": script_host(_url_of(row))}
        },
    )
    def allow(self, request: Any, row: Any) -> HttpResponse:
        host = script_host(_url_of(row))
        allow_script_host(shop=request.shop, host=host, now=request.now)
        self.message_user(request, _("Scripts from %(host)s are now allowed.") % {"host": host})
        return self.back_to(request, None)


@admin.register(ScriptTag)
class ScriptTagAdmin(AllowHostAdmin):
    """Apps register and delete their scripts; the merchant can turn a script off."""

    menu_title = _lazy("Scripts")
    empty_text = _lazy("Scripts that installed apps run on your shop's pages are listed here.")
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

    registered = moment("created_at", _lazy("registered"))
    app = column(_lazy("app"), lambda row: str(row.installation), by="installation__app__name")

    state = column(_lazy("state"), lambda row: _state_of(row), label=STATES)


def _state_of(row: ScriptTag) -> tuple[str, str]:
    if not row.is_active:
        return "off", _("Off")
    if blocked_reason():
        return "blocked", _("Blocked everywhere")
    if _is_allowed(row):
        return "active", _("Active")
    return "blocked", _("Blocked: %(host)s is not allowed") % {"host": script_host(row.src)}


def _is_allowed(tag: ScriptTag) -> bool:
    return script_host(tag.src) in {allowed.host for allowed in tag.shop.allowedscripthost_set.all()}


@admin.register(AllowedScriptHost)
class AllowedScriptHostAdmin(ScriptsAdmin):
    """Hosts whose scripts run: those of installed apps, deleted with the app, and those that the merchant allowed."""

    menu_title = _lazy("Allowed hosts")
    empty_text = _lazy("Scripts of apps are loaded only from the hosts that you allow.")
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

    allowed_by = column(
        _lazy("allowed by"),
        lambda row: (
            _("Installing %(installation)s") % {"installation": row.installation} if row.installation else _("You")
        ),
    )


@admin.register(BlockedScript)
class BlockedScriptAdmin(AllowHostAdmin):
    """Scripts that browsers reported as blocked. The merchant deletes rows; allowing a host deletes its rows."""

    empty_text = _lazy("Scripts that browsers blocked, because their host is not allowed, are listed here.")
    rights = {"view": Right.MANAGE_APPS, "delete": Right.MANAGE_APPS}
    moves = Moves.NOTHING
    list_display = ["source", "app", "what", "page", "count", "last"]
    list_select_related = ["shop"]
    search_fields = ["source"]
    ordering = ["-last_at", "-pk"]
    prefetched = ("shop__scripttag_set__installation__app",)
    fieldsets: Any = layout("source app what page count first last")

    first, last = moment("first_at", _lazy("first")), moment("last_at", _lazy("last"))

    @display(description=_lazy("app"))
    def app(self, row: BlockedScript) -> str:
        apps = {str(tag.installation) for tag in row.shop.scripttag_set.all() if without_query(tag.src) == row.source}
        return ", ".join(sorted(apps)) or "–"

    what = column(_lazy("type"), lambda row: WANTED.get(row.directive, row.directive))
    count = column(_lazy("times"), lambda row: format_count(row.times), by="times")
