"""Admin pages of apps: the operator registers them, owners of shops install them."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.admin import ModelAdmin

from storefront.apps import actions
from storefront.apps.admin_extensions import ExtensionAdmin as ExtensionAdmin
from storefront.apps.admin_forms import AppForm, ConsentForm, count_permissions, scopes_in_words
from storefront.apps.admin_installations import show_token
from storefront.apps.admin_scripts import SEES
from storefront.apps.admin_scripts import ScriptTagAdmin as ScriptTagAdmin
from storefront.apps.rules import script_host
from storefront.apps.scripts import blocked_reason
from storefront.installations.models import App, Installation
from storefront.pods import registry
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin, may_operate, refusal_as_message
from storefront.staff.admin_parts import PRIMARY, Moves, column, deed, layout, sure
from storefront.staff.elsewhere import elsewhere


def may_install(app: Any) -> bool:
    return app.is_active and not app.is_here


def _state_of(app: Any) -> tuple[str, str]:
    if app.is_here:
        return "installed", _("Installed")
    return ("available", _("Available")) if app.is_active else ("withdrawn", _("Withdrawn"))


@admin.register(App)
class AppAdmin(ShopScopedAdmin):
    """Apps belong to no shop: the operator edits them, owners of shops see and install them."""

    menu_title = _lazy("All apps")
    form = AppForm
    rights = {"view": Right.MANAGE_APPS, "add": Right.OPERATE, "change": Right.OPERATE}
    moves = Moves.IDENTITY
    audited = False
    list_select_related = False
    search_fields = ["name", "slug", "description"]
    ordering = ["name"]
    fieldsets: Any = layout(
        "name slug description contact",
        "Installing: install_url scopes is_active",
    )

    def get_queryset(self, request: Any) -> QuerySet:
        here = Installation.objects.filter(shop=request.shop, app=OuterRef("pk"), uninstalled_at=None)
        shops = Count("installations", filter=Q(installations__uninstalled_at=None))
        rows = ModelAdmin.get_queryset(self, request).annotate(is_here=Exists(here), shops=shops)
        return rows if may_operate(request) else rows.filter(Q(is_active=True) | Exists(here))

    def may(self, request: HttpRequest, action: str) -> bool:
        return super().may(request, action) and (action not in ("add", "change") or registry.is_written_here())

    def changeform_view(self, request: Any, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """In a pod that reads apps from pod 0, the operator's forms say where they are."""
        if may_operate(request) and (object_id is None or request.method == "POST"):
            path = reverse("admin:apps_app_change", args=[object_id]) if object_id else reverse("admin:apps_app_add")
            if answer := elsewhere(request, path):
                return answer
        return super().changeform_view(request, object_id, *args, **kwargs)

    def get_list_display(self, request: HttpRequest) -> list[str]:
        return ["name", "in_short", "permissions", "state", *(["shops_count"] if may_operate(request) else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["slug"] if obj else []

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Owners see fewer fields than the operator, and the scopes in words."""
        if may_operate(request):
            return super().get_fieldsets(request, obj)
        return [(None, {"fields": ["name", "about", "asks_for", "contact", "state"]})]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [name for _, options in self.get_fieldsets(request, obj) for name in options["fields"]]

    in_short = column(_lazy("description"), lambda row: Truncator(row.description).chars(60) or "–")
    permissions = column(_lazy("permissions"), lambda row: count_permissions(row.scopes))
    about = column(_lazy("description"), lambda row: row.description or "–")
    asks_for = column(_lazy("permissions"), lambda row: scopes_in_words(row.scopes))

    state = column(
        _lazy("in this shop"),
        _state_of,
        label={"installed": "success", "available": "info", "withdrawn": "warning"},
    )
    shops_count = column(_lazy("shops"), lambda row: row.shops, by="shops")

    def save_model(self, request: Any, obj: App, form: Any, change: bool) -> None:
        if change:
            obj.save(update_fields=form.changed_columns())
            return
        given = {name: form.cleaned_data[name] for name in ("name", "slug", "description", "contact", "install_url")}
        app, request.new_secret = actions.register_app(**given, scopes=form.cleaned_data["scopes"], now=request.now)
        App.objects.filter(pk=app.pk).update(is_active=obj.is_active)
        obj.pk = app.pk

    def response_add(self, request: Any, obj: App, post_url_continue: str | None = None) -> HttpResponse:
        return self._show_new_secret(request, obj, request.new_secret)

    def _show_new_secret(self, request: HttpRequest, app: App, secret: str) -> HttpResponse:
        return self.show_secret(
            request,
            secret,
            title=_("Secret of “%(app)s”") % {"app": app},
            kind=_("secret"),
            use=_("The app uses it to verify install notifications."),
            then=reverse("admin:apps_app_change", args=[app.pk]),
        )

    @deed(_lazy("Install"), Right.MANAGE_APPS, Moves.IDENTITY, icon="download", variant=PRIMARY, when=may_install)
    def install(self, request: Any, app: Any) -> Any:
        """The consent page: a tick box for each permission that the app asks for."""
        form = ConsentForm(request.POST if request.method == "POST" else None, app=app)
        if request.method == "POST" and form.is_valid():
            return refusal_as_message(request, lambda: self._install(request, app, form.cleaned_data["scopes"]))
        context = {"app": app, "form": form, "host": script_host(app.install_url), "sees": SEES}
        context |= {
            "title": _("Install “%(app)s” in %(shop)s?") % {"app": app, "shop": request.shop.name},
            "blocked_reason": blocked_reason(),
        }
        return self.page(request, "apps/admin/install.html", **context)

    @deed(_lazy("New secret"), Right.OPERATE, Moves.IDENTITY, icon="key", url_path="secret")
    @sure(
        _lazy("Create a new secret for “{}”?"),
        _lazy("New secret"),
        _lazy("Install notifications will be signed with the new secret only. The old one stops working."),
    )
    def rotate_secret(self, request: Any, app: Any) -> Any:
        secret = actions.rotate_app_secret(app=app, now=request.now)
        self.log_change(request, app, _("New secret created."))
        return self._show_new_secret(request, app, secret)

    def _install(self, request: Any, app: App, scopes: list[str]) -> HttpResponse:
        installation, token = actions.install_app(shop=request.shop, app=app, scopes=scopes, now=request.now)
        self.log_change(request, app, _("Installed in %(shop)s.") % {"shop": request.shop})
        return show_token(self, request, installation, token)
