"""Pages of the admin that forms and lists have none of: a question before a deed, and a secret that is shown once."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from storefront.shops.admin_base import ShopScopedAdmin, or_say_why
from storefront.shops.scopes import SCOPES


class AsksAndShows(ShopScopedAdmin):
    """An admin whose deeds are confirmed on a page of their own, and may answer with a secret."""

    def ask(self, request: Any, deed: Callable[[], HttpResponse], *, title: str, **told: Any) -> HttpResponse:
        """The page that asks, with what will happen (`sentences`); its post carries the deed out."""
        if request.method == "POST":
            return or_say_why(request, deed)
        context = {"title": title, "back": "../change/", **told}
        return self.page(request, "apps/admin/confirm.html", context)

    def show_secret(self, request: HttpRequest, secret: str, **told: str) -> HttpResponse:
        """The secret, in the answer to the post itself: it is in no session, no message and no log."""
        response = self.page(request, "shops/admin/new_secret.html", {"secret": secret, **told})
        response["Cache-Control"] = "no-store"
        return response

    def page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts}
        return TemplateResponse(request, template, shared | context)


def in_words(scopes: list[str]) -> str:
    return ", ".join(SCOPES[scope] for scope in scopes if scope in SCOPES) or "Nothing beyond what every app may"


def counted(scopes: list[str]) -> str:
    """For lists, whose columns are narrow."""
    return "1 permission" if len(scopes) == 1 else f"{len(scopes)} permissions"
