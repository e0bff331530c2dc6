"""Admin pages of the apps that are installed in a shop."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display

from storefront.apps import actions, queries
from storefront.apps.admin_forms import InstallationForm, count_permissions
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.kit.format import format_time
from storefront.shops.models import ApiToken
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin, may_operate
from storefront.staff.admin_parts import DANGER, Moves, column, deed, layout, moment, sure
from storefront.webhooks.admin import CANNOT_SIGN
from storefront.webhooks.models import Delivery

NOTIFICATION = {
    Delivery.Status.PENDING: _lazy("Pending"),
    Delivery.Status.DELIVERED: _lazy("Delivered"),
    Delivery.Status.DEAD: _lazy("Failed"),
    Delivery.Status.CANCELLED: _lazy("Cancelled"),
}
NOTIFICATION_COLOURS = {"pending": "info", "delivered": "success", "dead": "danger", "cancelled": ""}

# Apps that the page offers to install; the list of all apps has the others.
MAX_OFFERED = 10


def _notified(row: Any) -> str | tuple[str, str]:
    for delivery in row.notifications:
        return delivery.status, str(NOTIFICATION.get(delivery.status, delivery.get_status_display()))
    return "–"


def _state_of(row: Installation) -> tuple[str, str]:
    if row.uninstalled_at:
        return "uninstalled", _("Uninstalled")
    return ("installed", _("Installed")) if row.can_sign else ("on_hold", str(CANNOT_SIGN))


@admin.register(Installation)
class InstallationAdmin(ShopScopedAdmin):
    """The apps of this shop: their permissions, tokens and last calls."""

    menu_title = _lazy("Installed")
    empty_text = _lazy(
        "Apps add to the shop what it lacks: blocks at the checkout, scripts, and programs that follow your orders."
    )
    form = InstallationForm
    rights = {"view": Right.MANAGE_APPS, "change": Right.MANAGE_APPS}
    moves = Moves.IDENTITY
    list_display = ["app", "state", "notified", "allowed", "installed"]
    list_after_template = "apps/admin/available.html"
    list_select_related = ["shop", "app"]
    search_fields = ["app__name", "app__slug"]
    ordering = ["-installed_at"]
    actions = None
    fieldsets: Any = layout(
        "app state notified installed uninstalled",
        "Permissions: scopes requests_per_minute tokens",
        "Calls to the app: last_calls",
    )

    installed = moment("installed_at", _lazy("installed"))
    uninstalled = moment("uninstalled_at", _lazy("uninstalled"))

    def changelist_view(self, request: Any, extra_context: dict[str, Any] | None = None) -> Any:
        available = queries.available_apps(request.shop)[:MAX_OFFERED]
        return super().changelist_view(request, {**(extra_context or {}), "available": available})

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        notifications = Delivery.objects.filter(kind=Delivery.Kind.INSTALL)
        prefetch = Prefetch("deliveries", queryset=notifications, to_attr="notifications")
        return super().get_queryset(request).prefetch_related(prefetch)

    def has_change_permission(self, request: HttpRequest, obj: Installation | None = None) -> bool:
        """Uninstalled apps are read-only."""
        is_installed = obj is None or obj.uninstalled_at is None
        return is_installed and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Installation | None = None) -> list[str]:
        shown = ["app", "state", "notified", "installed", "uninstalled", "tokens", "last_calls"]
        return shown if may_operate(request) else [*shown, "requests_per_minute"]

    state = column(
        _lazy("state"),
        _state_of,
        label={"installed": "success", "uninstalled": "", "on_hold": "danger"},
    )

    notified = column(_lazy("install notification"), lambda row: _notified(row), label=NOTIFICATION_COLOURS)

    allowed = column(_lazy("permissions"), lambda row: count_permissions(row.scopes))

    @display(description=_lazy("tokens"))
    def tokens(self, row: Installation) -> str:
        valid = queries.app_tokens(row.shop, row, clock.now())
        return ", ".join(self._token_text(row, token) for token in valid) or "–"

    @staticmethod
    def _token_text(row: Installation, token: ApiToken) -> str:
        shown = {
            "ending": token.ending,
            "used": format_time(token.last_used_at, row.shop.timezone) if token.last_used_at else _("never"),
        }
        if token.expires_at is None:
            return _("app_…%(ending)s, last used: %(used)s") % shown
        shown["until"] = format_time(token.expires_at, row.shop.timezone)
        return _("app_…%(ending)s, until %(until)s, last used: %(used)s") % shown

    @display(description=_lazy("last calls"))
    def last_calls(self, row: Installation) -> str:
        """Requests for blocks and webhook deliveries, newest first."""
        lines = format_html_join(
            "",
            '<tr><td class="pr-4 py-1">{}</td><td class="pr-4 py-1">{}</td><td class="py-1">{}</td></tr>',
            (
                (format_time(called_at, row.shop.timezone), purpose, outcome)
                for called_at, purpose, outcome in queries.last_calls(row.shop, row)
            ),
        )
        return format_html('<table class="text-left"><tbody>{}</tbody></table>', lines) if lines else _("No calls yet")

    def offers(self, row: Installation, name: str) -> bool:
        if name == "end_old_tokens" and not any(
            token.expires_at for token in queries.app_tokens(row.shop, row, clock.now())
        ):
            return False
        return row.uninstalled_at is None

    def save_model(self, request: Any, obj: Installation, form: Any, change: bool) -> None:
        given = {"shop": request.shop, "installation": obj, "now": request.now}
        if "scopes" in form.changed_data:
            actions.change_scopes(**given, scopes=form.cleaned_data["scopes"])
        if "requests_per_minute" in form.changed_data:
            actions.change_rate_limit(**given, requests_per_minute=form.cleaned_data["requests_per_minute"])

    @deed(_lazy("New token"), Right.MANAGE_APPS, Moves.IDENTITY, icon="key", url_path="token")
    @sure(
        _lazy("Create a new token for “{}”?"),
        _lazy("New token"),
        _lazy("It is sent to the app, and you will see it only once."),
        _lazy("The old token works for another 24 hours, unless you revoke it first."),
    )
    def rotate_token(self, request: Any, row: Any) -> HttpResponse:
        token = actions.rotate_token(shop=request.shop, installation=row, now=request.now)
        return show_token(self, request, row, token)

    @deed(_lazy("Revoke old tokens"), Right.MANAGE_APPS, Moves.IDENTITY, icon="block", url_path="end-tokens")
    @sure(
        _lazy("Revoke old tokens of “{}”?"),
        _lazy("Revoke"),
        _lazy("Only the newest token will work from the next request. This cannot be undone."),
    )
    def end_old_tokens(self, request: Any, row: Any) -> str:
        actions.end_old_tokens(shop=request.shop, installation=row, now=request.now)
        return _("Old tokens revoked. Only the newest token works now.")

    @deed(_lazy("New webhook secret"), Right.MANAGE_APPS, Moves.IDENTITY, icon="signature", url_path="secret")
    @sure(
        _lazy("Create a new webhook secret for “{}”?"),
        _lazy("New secret"),
        _lazy("You will see it only once."),
        _lazy("For 24 hours, calls to the app are signed with both the old and the new secret."),
    )
    def rotate_secret(self, request: Any, row: Any) -> HttpResponse:
        return self.show_secret(
            request,
            actions.rotate_secret(shop=request.shop, installation=row, now=request.now),
            title=_("Webhook secret of “%(row)s”") % {"row": row},
            kind=_("secret"),
            use=_("The app uses it to verify that webhooks and block requests come from this shop."),
            then="../change/",
        )

    @deed(_lazy("Uninstall"), Right.MANAGE_APPS, Moves.IDENTITY, icon="delete", variant=DANGER)
    @sure(
        _lazy("Uninstall “{}”?"),
        _lazy("Uninstall"),
        _lazy("Its tokens stop working immediately, and these are deleted:"),
        more=lambda request, row: {"deleted": queries.count_uninstalled(request.shop, row), "danger": True},
    )
    def uninstall(self, request: Any, row: Any) -> str:
        actions.uninstall_app(shop=request.shop, installation=row, now=request.now)
        return _("“%(row)s” has been uninstalled.") % {"row": row}


def show_token(page: ShopScopedAdmin, request: HttpRequest, installation: Installation, token: str) -> HttpResponse:
    return page.show_secret(
        request,
        token,
        title=_("Token of “%(app)s”") % {"app": installation.app},
        kind=_("token"),
        use=_("The app sends it as X-Shop-Access-Token with each request. Anyone who has it can use its permissions."),
        then=reverse("admin:apps_installation_change", args=[installation.pk]),
    )
