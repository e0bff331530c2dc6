"""The shop's domains in the admin: its own address, and further ones that lead to it."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.shops.models import ShopDomain
from storefront.shops.rights import Right
from storefront.staff import domains
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, asks, column, deed, moment


class DomainForm(ShopScopedForm):
    def clean_domain(self) -> str:
        domain = domains.normal_domain(self.cleaned_data["domain"])
        if problem := domains.problem_of(self.shop, domain):
            raise forms.ValidationError(problem)
        return domain


@admin.register(ShopDomain)
class ShopDomainAdmin(ShopScopedAdmin):
    menu_title = _lazy("Domains")
    empty_text = _lazy("Further domains, such as www.example.com, lead visitors to the shop's own address.")
    form = DomainForm
    rights = dict.fromkeys(["view", "add", "delete"], Right.MANAGE_SETTINGS)
    moves = Moves.IDENTITY
    list_before_template = "shops/admin/domains.html"
    ordering = ["domain"]
    search_fields = new_fields = ["domain"]
    fields = list_display = ["domain", "state", "finding", "checked"]

    checked = moment("checked_at", _lazy("checked"))
    state = column(
        _lazy("status"),
        lambda row: (
            ("leads", _("Leads to the shop")) if row.confirmed_at else ("waiting", _("Waiting for the operator"))
        ),
        label={"waiting": "warning", "leads": "success"},
    )

    finding = column(
        _lazy("last check"),
        lambda row: (
            (_(row.problem) if row.problem else _("It answers here.")) if row.checked_at else _("Not checked yet")
        ),
    )

    def changelist_view(self, request: Any, extra_context: Any = None) -> Any:
        address = getattr(request, "shop", None) and request.shop.base_url
        more = {"address": address, "host": urlsplit(address or "").hostname}
        return super().changelist_view(request, (extra_context or {}) | more)

    def save_model(self, request: Any, obj: ShopDomain, form: Any, change: bool) -> None:
        row = domains.ask_for_domain(shop=request.shop, domain=obj.domain, now=request.now)
        obj.pk, obj.created_at = row.pk, row.created_at

    def delete_model(self, request: Any, obj: ShopDomain) -> None:
        domains.remove_domain(shop=request.shop, domain=obj.domain, now=request.now)

    def response_add(self, request: HttpRequest, obj: ShopDomain, post_url_continue: Any = None) -> HttpResponse:
        text = _("%(domain)s leads to the shop as soon as the operator of this deployment has confirmed it.") % {
            "domain": obj.domain
        }
        return self.done(request, obj, text)

    @deed(_lazy("Check"), Right.MANAGE_SETTINGS, Moves.NOTHING, icon="travel_explore")
    @asks(_lazy("Check this domain?"), _lazy("Asks the domain whether it leads here."), _lazy("Check"))
    def check_domain(self, request: Any, row: Any, form: Any) -> Any:
        problem = domains.check_domain(shop=request.shop, row=row, now=request.now)
        if problem:
            self.message_user(request, problem, messages.WARNING)
            return self.back_to(request, row)
        return _("%(domain)s answers here.") % {"domain": row.domain}
