"""Admin of redirects, and of the addresses at which the shop has no page."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.content import redirects
from storefront.content.addresses import WrongAddress, as_entered, own_hosts, path_of, target_of
from storefront.content.models import MissingPath, Redirect
from storefront.kit.format import format_count
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, deed, layout, list_deed, moment, view_and_edit
from storefront.staff.table_files import csv_download, import_page

RIGHTS = view_and_edit(Right.MANAGE_CONTENT, Right.MANAGE_CONTENT)
EXPLANATION = _lazy(
    "A CSV file with the columns “Redirect from” and “Redirect to”, as Shopify exports it. Redirects of the shop that"
    " the file lacks stay. If a line is wrong, nothing is imported."
)


class RedirectForm(ShopScopedForm):
    """Addresses in their normal form. `planned` are the redirects that change with this one, by path."""

    constraint_errors = {"redirect_path_once": ("path", _lazy("This address is redirected already."))}
    planned: dict[str, str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["path"] = as_entered(self.instance.path)
        self.path_before = self.instance.path

    def clean(self) -> Any:
        cleaned = super().clean()
        hosts = own_hosts(self.shop)
        if self.instance.pk and "path" not in self.changed_data:
            cleaned["path"] = as_entered(self.path_before)
        for name, read in (("path", path_of), ("target", target_of)):
            if name in cleaned:
                try:
                    cleaned[name] = read(cleaned[name], hosts)
                except WrongAddress as wrong:
                    self.add_error(name, str(wrong))
        if not self.errors:
            self._plan(cleaned)
        return cleaned

    def _plan(self, cleaned: dict[str, Any]) -> None:
        redirects.lock(self.shop)
        path, target = cleaned["path"], cleaned["target"]
        try:
            self.planned = redirects.planned(self.shop, path=path, target=target, instead_of=self.path_before)
        except WrongAddress as wrong:
            self.add_error("target", str(wrong))
        else:
            cleaned["target"] = self.planned.pop(path, target)


@admin.register(Redirect)
class RedirectAdmin(ShopScopedAdmin):
    icon = "alt_route"
    empty_text = _lazy(
        "Send visitors from old addresses to pages that exist. Renamed products and categories need no "
        "redirect: their old addresses still work."
    )
    form = RedirectForm
    rights = RIGHTS
    moves = Moves.NOTHING
    list_display = ["path", "target", "updated"]
    search_fields = ["path", "target"]
    ordering = ["path"]
    fieldsets: Any = layout("path target")

    updated = moment("updated_at", _lazy("changed"))

    def save_model(self, request: Any, obj: Redirect, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        repointed = redirects.repoint(shop=request.shop, targets=form.planned, now=request.now)
        if repointed:
            after = {"redirects": repointed, "target": obj.target}
            audit.record(
                shop=request.shop, action="redirect.repointed", object=audit.Object("redirects"), after=after,
                now=request.now,
            )  # fmt: skip
            messages.info(
                request,
                _("%(repointed)s that led to %(path)s lead to %(target)s now.")
                % {"repointed": format_count(repointed), "path": obj.path, "target": obj.target},
            )
        redirects.forget_missing(request.shop, [obj.path])

    @list_deed(_lazy("Export"), Right.MANAGE_CONTENT, Moves.NOTHING, icon="download", url_path="redirects.csv")
    def export_redirects(self, request: Any) -> HttpResponse:
        return csv_download("redirects.csv", redirects.export_redirects(request.shop))

    @list_deed(_lazy("Import"), Right.MANAGE_CONTENT, Moves.NOTHING, icon="upload", url_path="import")
    def import_redirects(self, request: Any) -> Any:
        def load(content: bytes) -> str:
            found = redirects.import_redirects(shop=request.shop, content=content, now=request.now)
            text = _("Redirects imported: %(added)s added, %(changed)s changed, %(same)s unchanged.") % {
                "added": f"{found.added:,}",
                "changed": f"{found.changed:,}",
                "same": f"{found.same:,}",
            }
            more = _("%(count)s others lead to their new targets.") % {"count": f"{found.repointed:,}"}
            return f"{text} {more}" if found.repointed else text

        back = reverse("admin:content_redirect_changelist")
        return import_page(self, request, load, title=_("Import redirects"), explanation=EXPLANATION, back=back)


@admin.register(MissingPath)
class MissingPathAdmin(ShopScopedAdmin):
    """Addresses that were asked for in vain. They can be redirected, or deleted."""

    icon = "link_off"
    empty_text = _lazy("No visitor has asked for a missing page.")
    rights = {"view": Right.MANAGE_CONTENT, "delete": Right.MANAGE_CONTENT}
    moves = Moves.NOTHING
    list_display = ["path", "asked", "last"]
    search_fields = ["path"]
    ordering = ["-asked", "-last_asked_at"]
    fields = ["path", "asked", "last"]

    last = moment("last_asked_at", _lazy("last"))

    @deed(_lazy("Redirect"), Right.MANAGE_CONTENT, Moves.NOTHING, icon="alt_route", url_path="redirect")
    def redirect(self, request: Any, row: MissingPath) -> HttpResponse:
        return HttpResponseRedirect(
            f"{reverse('admin:content_redirect_add')}?{urlencode({'path': as_entered(row.path)})}"
        )
