"""Admin pages of the apps that are installed in a shop."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.apps import actions, queries
from storefront.apps.admin_forms import InstallationForm
from storefront.apps.admin_pages import ConfirmingAdmin, count_permissions
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.kit.format import format_time
from storefront.shops.admin_base import may_operate, moment
from storefront.shops.models import ApiToken
from storefront.shops.rights import Right
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
class InstallationAdmin(ConfirmingAdmin):
    """The apps of this shop: their permissions, tokens and last calls."""

    empty_text = (
        "Apps add to the shop what it lacks: blocks at the checkout, scripts, and programs that follow your orders."
    )
    form = InstallationForm
    rights = {
        "view": Right.MANAGE_APPS,
        "change": Right.MANAGE_APPS,
        "rotate_token": Right.MANAGE_APPS,
        "end_old_tokens": Right.MANAGE_APPS,
        "rotate_secret": Right.MANAGE_APPS,
        "uninstall": Right.MANAGE_APPS,
    }
    list_display = ["app", "state", "notified", "allowed", "installed"]
    list_after_template = "apps/admin/available.html"
    list_select_related = ["shop", "app"]
    search_fields = ["app__name", "app__slug"]
    ordering = ["-installed_at"]
    actions = None
    actions_detail = ["rotate_token", "end_old_tokens", "rotate_secret", "uninstall"]
    fieldsets: Any = [
        (None, {"fields": ["app", "state", "notified", "installed", "uninstalled"]}),
        ("Permissions", {"fields": ["scopes", "requests_per_minute", "tokens"]}),
        ("Calls to the app", {"fields": ["last_calls"]}),
    ]

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

    @display(description="state", label={"Installed": "success", "Uninstalled": "", CANNOT_SIGN: "danger"})
    def state(self, row: Installation) -> str:
        if row.uninstalled_at:
            return "Uninstalled"
        return "Installed" if row.can_sign else CANNOT_SIGN

    @display(description="install notification", label=NOTIFICATION_COLOURS)
    def notified(self, row: Installation) -> str:
        for delivery in row.notifications:  # type: ignore[attr-defined]
            return NOTIFICATION.get(delivery.status, delivery.get_status_display())
        return "–"

    @display(description="permissions")
    def allowed(self, row: Installation) -> str:
        return count_permissions(row.scopes)

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

    def get_actions_detail(self, request: Any, object_id: Any) -> list[Any]:
        row = self.get_object(request, str(object_id))
        if row is None or row.uninstalled_at:
            return []
        found = super().get_actions_detail(request, object_id)
        if not any(token.expires_at for token in queries.app_tokens(request.shop, row, request.now)):
            found = [each for each in found if not each.action_name.endswith("end_old_tokens")]
        return found

    def save_model(self, request: Any, obj: Installation, form: Any, change: bool) -> None:
        given = {"shop": request.shop, "installation": obj, "now": request.now}
        if "scopes" in form.changed_data:
            actions.change_scopes(**given, scopes=form.cleaned_data["scopes"])
        if "requests_per_minute" in form.changed_data:
            actions.change_rate_limit(**given, requests_per_minute=form.cleaned_data["requests_per_minute"])

    @action(description="New token", icon="key", url_path="token")
    def rotate_token(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def rotated() -> HttpResponse:
            token = actions.rotate_token(shop=request.shop, installation=row, now=request.now)
            return show_token(self, request, row, token)

        sentences = [
            "It is sent to the app, and you will see it only once.",
            "The old token works for another 24 hours, unless you revoke it first.",
        ]
        return self.confirm(
            request, rotated, title=f"Create a new token for “{row}”?", sentences=sentences, button="New token"
        )

    @action(description="Revoke old tokens", icon="block", url_path="end-tokens")
    def end_old_tokens(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def ended() -> HttpResponse:
            actions.end_old_tokens(shop=request.shop, installation=row, now=request.now)
            return self.done(request, row, "Old tokens revoked. Only the newest token works now.")

        sentence = "Only the newest token will work from the next request. This cannot be undone."
        return self.confirm(
            request, ended, title=f"Revoke old tokens of “{row}”?", sentences=[sentence], button="Revoke"
        )

    @action(description="New webhook secret", icon="signature", url_path="secret")
    def rotate_secret(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def rotated() -> HttpResponse:
            secret = actions.rotate_secret(shop=request.shop, installation=row, now=request.now)
            return self.show_secret(
                request,
                secret,
                title=f"Webhook secret of “{row}”",
                kind="secret",
                use="The app uses it to verify that webhooks and block requests come from this shop.",
                then="../change/",
            )

        sentences = [
            "You will see it only once.",
            "For 24 hours, calls to the app are signed with both the old and the new secret.",
        ]
        title = f"Create a new webhook secret for “{row}”?"
        return self.confirm(request, rotated, title=title, sentences=sentences, button="New secret")

    @action(description="Uninstall", icon="delete", variant=ActionVariant.DANGER)
    def uninstall(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def uninstalled() -> HttpResponse:
            actions.uninstall_app(shop=request.shop, installation=row, now=request.now)
            return self.done(request, row, f"“{row}” has been uninstalled.")

        return self.confirm(
            request,
            uninstalled,
            title=f"Uninstall “{row}”?",
            sentences=["Its tokens stop working immediately, and these are deleted:"],
            deleted=queries.count_uninstalled(request.shop, row),
            button="Uninstall",
            danger=True,
        )


def show_token(page: ConfirmingAdmin, request: HttpRequest, installation: Installation, token: str) -> HttpResponse:
    return page.show_secret(
        request,
        token,
        title=f"Token of “{installation.app}”",
        kind="token",
        use="The app sends it as X-Shop-Access-Token with each request. Anyone who has it can use its permissions.",
        then=reverse("admin:apps_installation_change", args=[installation.pk]),
    )
