"""The shop's domains in the admin: its own address, and further ones that lead to it."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import action, display

from storefront.shops import domains
from storefront.shops.admin_base import ShopScopedAdmin, moment, plain_dialog
from storefront.shops.admin_forms import ShopScopedForm
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

    @display(description="status", label={WAITING: "warning", LEADS: "success"})
    def state(self, row: ShopDomain) -> str:
        return LEADS if row.confirmed_at else WAITING

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

    @action(
        description="Check",
        icon="travel_explore",
        dialog=plain_dialog("Check this domain?", "Asks the domain whether it leads here.", submit="Check"),
    )
    def check_domain(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        problem = domains.check_domain(shop=request.shop, row=row, now=request.now)
        if problem:
            self.message_user(request, problem, messages.WARNING)
            return self.back_to(request, row)
        return self.done(request, row, f"{row.domain} answers here.")
