"""Base class of admin pages that confirm an action or show a secret once."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from storefront.shops.admin_base import ShopScopedAdmin, refusal_as_message
from storefront.shops.scopes import SCOPES


class ConfirmingAdmin(ShopScopedAdmin):
    """An admin whose actions are confirmed on a separate page, and may respond with a secret."""

    def confirm(self, request: Any, act: Callable[[], HttpResponse], *, title: str, **context: Any) -> HttpResponse:
        """Show the confirmation page with what will happen (`sentences`). A POST calls `act`."""
        if request.method == "POST":
            return refusal_as_message(request, act)
        context = {"title": title, "back": "../change/", **context}
        return self.page(request, "apps/admin/confirm.html", context)

    def show_secret(self, request: HttpRequest, secret: str, **context: str) -> HttpResponse:
        """A page with the secret, as the response to the POST itself: no session, message or log contains it."""
        response = self.page(request, "shops/admin/new_secret.html", {"secret": secret, **context})
        response["Cache-Control"] = "no-store"
        return response

    def page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts}
        return TemplateResponse(request, template, shared | context)


def scopes_in_words(scopes: list[str]) -> str:
    return ", ".join(SCOPES[scope] for scope in scopes if scope in SCOPES) or "No permissions"


def count_permissions(scopes: list[str]) -> str:
    """The number of scopes as a text, for narrow columns."""
    return "1 permission" if len(scopes) == 1 else f"{len(scopes)} permissions"
