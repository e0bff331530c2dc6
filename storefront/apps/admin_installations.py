"""Admin pages of the apps that are installed in a shop."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
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
    Delivery.Status.PENDING: "Pending",
    Delivery.Status.DELIVERED: "Delivered",
    Delivery.Status.DEAD: "Failed",
    Delivery.Status.CANCELLED: "Cancelled",
}
NOTIFICATION_COLOURS = {"Pending": "info", "Delivered": "success", "Failed": "danger", "Cancelled": ""}

# Apps that the page offers to install; the list of all apps has the others.
MAX_OFFERED = 10


@admin.register(Installation)
class InstallationAdmin(ShopScopedAdmin):
    """The apps of this shop: their permissions, tokens and last calls."""

    menu_title = "Installed"
    empty_text = (
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

    installed = moment("installed_at")
    uninstalled = moment("uninstalled_at")

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
        "state",
        lambda row: "Uninstalled" if row.uninstalled_at else "Installed" if row.can_sign else CANNOT_SIGN,
        label={"Installed": "success", "Uninstalled": "", CANNOT_SIGN: "danger"},
    )

    @display(description="install notification", label=NOTIFICATION_COLOURS)
    def notified(self, row: Installation) -> str:
        for delivery in row.notifications:  # type: ignore[attr-defined]
            return NOTIFICATION.get(delivery.status, delivery.get_status_display())
        return "–"

    allowed = column("permissions", lambda row: count_permissions(row.scopes))

    @display(description="tokens")
    def tokens(self, row: Installation) -> str:
        valid = queries.app_tokens(row.shop, row, clock.now())
        return ", ".join(self._token_text(row, token) for token in valid) or "–"

    @staticmethod
    def _token_text(row: Installation, token: ApiToken) -> str:
        until = f", until {format_time(token.expires_at, row.shop.timezone)}" if token.expires_at else ""
        used = format_time(token.last_used_at, row.shop.timezone) if token.last_used_at else "never"
        return f"app_…{token.ending}{until}, last used: {used}"

    @display(description="last calls")
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
        return format_html('<table class="text-left"><tbody>{}</tbody></table>', lines) if lines else "No calls yet"

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

    @deed("New token", Right.MANAGE_APPS, Moves.IDENTITY, icon="key", url_path="token")
    @sure(
        "Create a new token for “{}”?",
        "New token",
        "It is sent to the app, and you will see it only once.",
        "The old token works for another 24 hours, unless you revoke it first.",
    )
    def rotate_token(self, request: Any, row: Any) -> HttpResponse:
        token = actions.rotate_token(shop=request.shop, installation=row, now=request.now)
        return show_token(self, request, row, token)

    @deed("Revoke old tokens", Right.MANAGE_APPS, Moves.IDENTITY, icon="block", url_path="end-tokens")
    @sure(
        "Revoke old tokens of “{}”?",
        "Revoke",
        "Only the newest token will work from the next request. This cannot be undone.",
    )
    def end_old_tokens(self, request: Any, row: Any) -> str:
        actions.end_old_tokens(shop=request.shop, installation=row, now=request.now)
        return "Old tokens revoked. Only the newest token works now."

    @deed("New webhook secret", Right.MANAGE_APPS, Moves.IDENTITY, icon="signature", url_path="secret")
    @sure(
        "Create a new webhook secret for “{}”?",
        "New secret",
        "You will see it only once.",
        "For 24 hours, calls to the app are signed with both the old and the new secret.",
    )
    def rotate_secret(self, request: Any, row: Any) -> HttpResponse:
        return self.show_secret(
            request,
            actions.rotate_secret(shop=request.shop, installation=row, now=request.now),
            title=f"Webhook secret of “{row}”",
            kind="secret",
            use="The app uses it to verify that webhooks and block requests come from this shop.",
            then="../change/",
        )

    @deed("Uninstall", Right.MANAGE_APPS, Moves.IDENTITY, icon="delete", variant=DANGER)
    @sure(
        "Uninstall “{}”?",
        "Uninstall",
        "Its tokens stop working immediately, and these are deleted:",
        more=lambda request, row: {"deleted": queries.count_uninstalled(request.shop, row), "danger": True},
    )
    def uninstall(self, request: Any, row: Any) -> str:
        actions.uninstall_app(shop=request.shop, installation=row, now=request.now)
        return f"“{row}” has been uninstalled."


def show_token(page: ShopScopedAdmin, request: HttpRequest, installation: Installation, token: str) -> HttpResponse:
    return page.show_secret(
        request,
        token,
        title=f"Token of “{installation.app}”",
        kind="token",
        use="The app sends it as X-Shop-Access-Token with each request. Anyone who has it can use its permissions.",
        then=reverse("admin:apps_installation_change", args=[installation.pk]),
    )
