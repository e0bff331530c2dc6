"""The shop's domains in the admin: its own address, and further ones that lead to it."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import display

from storefront.shops import domains
from storefront.shops.admin_base import ShopScopedAdmin
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.admin_parts import Moves, ask, column, deed, moment
from storefront.shops.models import ShopDomain
from storefront.shops.rights import Right

WAITING, LEADS = "Waiting for the operator", "Leads to the shop"


class DomainForm(ShopScopedForm):
    def clean_domain(self) -> str:
        domain = domains.normal_domain(self.cleaned_data["domain"])
        if problem := domains.problem_of(self.shop, domain):
            raise forms.ValidationError(problem)
        return domain


@admin.register(ShopDomain)
class ShopDomainAdmin(ShopScopedAdmin):
    empty_text = "Further domains, such as www.example.com, lead visitors to the shop's own address."
    form = DomainForm
    rights = dict.fromkeys(["view", "add", "delete", "check_domain"], Right.MANAGE_SETTINGS)
    list_display = ["domain", "state", "finding", "checked"]
    list_before_template = "shops/admin/domains.html"
    ordering = ["domain"]
    actions_detail = ["check_domain"]
    search_fields = ["domain"]

    checked = moment("checked_at", "checked")

    state = column(
        "status", lambda row: LEADS if row.confirmed_at else WAITING, label={WAITING: "warning", LEADS: "success"}
    )

    @display(description="last check")
    def finding(self, row: ShopDomain) -> str:
        if row.checked_at is None:
            return "Not checked yet"
        return row.problem or "It answers here."

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["domain", "state", "finding", "checked"] if obj else ["domain"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["state", "finding", "checked"]

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
        text = f"{obj.domain} leads to the shop as soon as the operator of this deployment has confirmed it."
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:shops_shopdomain_change", args=[obj.pk]))

    @deed(
        "Check",
        Right.MANAGE_SETTINGS,
        Moves.NOTHING,
        ask=ask("Check this domain?", "Asks the domain whether it leads here.", "Check"),
        icon="travel_explore",
    )
    def check_domain(self, request: Any, row: Any, form: Any) -> Any:
        problem = domains.check_domain(shop=request.shop, row=row, now=request.now)
        if problem:
            self.message_user(request, problem, messages.WARNING)
            return self.back_to(request, row)
        return f"{row.domain} answers here."
