"""The apps of a shop, as its owners look after them."""

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
from storefront.apps.admin_pages import AsksAndShows, counted
from storefront.apps.models import Installation
from storefront.kit import clock
from storefront.kit.format import format_time
from storefront.shops.admin_base import moment
from storefront.shops.models import ApiToken
from storefront.webhooks.models import Delivery

NOTIFICATION = {
    Delivery.Status.PENDING: "On its way",
    Delivery.Status.DELIVERED: "Arrived",
    Delivery.Status.DEAD: "Given up",
    Delivery.Status.CANCELLED: "Cancelled",
}
NOTIFICATION_COLOURS = {"On its way": "info", "Arrived": "success", "Given up": "danger", "Cancelled": ""}


@admin.register(Installation)
class InstallationAdmin(AsksAndShows):
    """The apps of this shop: what each may do, and how it fares."""

    form = InstallationForm
    owners_only = True
    can_add = can_delete_rows = False
    list_display = ["app", "state", "notified", "allowed", "installed"]
    list_select_related = ["shop", "app"]
    search_fields = ["app__name", "app__slug"]
    ordering = ["-installed_at"]
    actions = None
    actions_detail = ["rotate_token", "end_old_tokens", "rotate_secret", "uninstall"]
    fieldsets: Any = [
        (None, {"fields": ["app", "state", "notified", "installed", "uninstalled"]}),
        ("What it may do", {"fields": ["scopes", "requests_per_minute", "tokens"]}),
        ("Calls of the shop to the app", {"fields": ["last_calls"]}),
    ]

    installed = moment("installed_at")
    uninstalled = moment("uninstalled_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        notifications = Delivery.objects.filter(kind=Delivery.Kind.INSTALL)
        told = Prefetch("deliveries", queryset=notifications, to_attr="notifications")
        return super().get_queryset(request).prefetch_related(told)

    def has_change_permission(self, request: HttpRequest, obj: Installation | None = None) -> bool:
        """What was uninstalled is only looked at."""
        stands = obj is None or obj.uninstalled_at is None
        return stands and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Installation | None = None) -> list[str]:
        shown = ["app", "state", "notified", "installed", "uninstalled", "tokens", "last_calls"]
        return shown if request.user.is_superuser else [*shown, "requests_per_minute"]

    @display(description="state", label={"Installed": "success", "Uninstalled": ""})
    def state(self, row: Installation) -> str:
        return "Uninstalled" if row.uninstalled_at else "Installed"

    @display(description="told of the installation", label=NOTIFICATION_COLOURS)
    def notified(self, row: Installation) -> str:
        for told in row.notifications:  # type: ignore[attr-defined]
            return NOTIFICATION.get(told.status, told.get_status_display())
        return "–"

    @display(description="may")
    def allowed(self, row: Installation) -> str:
        return counted(row.scopes)

    @display(description="tokens")
    def tokens(self, row: Installation) -> str:
        standing = queries.app_tokens(row.shop, row, clock.now())
        return ", ".join(self._token_text(row, token) for token in standing) or "–"

    @staticmethod
    def _token_text(row: Installation, token: ApiToken) -> str:
        until = f", until {format_time(token.expires_at, row.shop.timezone)}" if token.expires_at else ""
        return f"app_…{token.ending}{until}"

    @display(description="last calls")
    def last_calls(self, row: Installation) -> str:
        """Requests for blocks and deliveries, the newest first."""
        lines = format_html_join(
            "",
            '<tr><td class="pr-4 py-1">{}</td><td class="pr-4 py-1">{}</td><td class="py-1">{}</td></tr>',
            (
                (format_time(moment, row.shop.timezone), what, how)
                for moment, what, how in queries.last_calls(row.shop, row)
            ),
        )
        return format_html('<table class="text-left"><tbody>{}</tbody></table>', lines) if lines else "None yet"

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
            self.log_change(request, row, "New token.")
            return show_token(self, request, row, token)

        sentences = ["It is shown once.", "The old one is good for another 24 hours, unless you end it before."]
        return self.ask(request, rotated, title=f"Give “{row}” a new token?", sentences=sentences, button="New token")

    @action(description="End old tokens", icon="block", url_path="end-tokens")
    def end_old_tokens(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def ended() -> HttpResponse:
            actions.end_old_tokens(shop=request.shop, installation=row, now=request.now)
            return self.done(request, row, "Only the newest token is good from now on.")

        sentence = "Only the newest token is good from the next request on. This cannot be undone."
        return self.ask(request, ended, title=f"End old tokens of “{row}”?", sentences=[sentence], button="End them")

    @action(description="New webhook secret", icon="signature", url_path="secret")
    def rotate_secret(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def rotated() -> HttpResponse:
            secret = actions.rotate_secret(shop=request.shop, installation=row, now=request.now)
            self.log_change(request, row, "New webhook secret.")
            return self.show_secret(
                request,
                secret,
                title=f"Webhook secret of “{row}”",
                kind="secret",
                use="The app checks with it that webhooks and requests for blocks come from this shop.",
                then="../change/",
            )

        sentences = [
            "It is shown once.",
            "For 24 hours the app is called with signatures of both.",
        ]
        title = f"Give “{row}” a new webhook secret?"
        return self.ask(request, rotated, title=title, sentences=sentences, button="New secret")

    @action(description="Uninstall", icon="delete", variant=ActionVariant.DANGER)
    def uninstall(self, request: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)

        def uninstalled() -> HttpResponse:
            actions.uninstall_app(shop=request.shop, installation=row, now=request.now)
            return self.done(request, row, f"“{row}” is uninstalled.")

        return self.ask(
            request,
            uninstalled,
            title=f"Uninstall “{row}”?",
            sentences=["Its tokens are refused from the next request on, and this goes with it:"],
            goes=queries.what_goes(request.shop, row),
            button="Uninstall",
            danger=True,
        )


def show_token(page: AsksAndShows, request: HttpRequest, installation: Installation, token: str) -> HttpResponse:
    return page.show_secret(
        request,
        token,
        title=f"Token of “{installation.app}”",
        kind="token",
        use="The app sends it as X-Shop-Access-Token with each request. Whoever has it can do what the app may do.",
        then=reverse("admin:apps_installation_change", args=[installation.pk]),
    )
