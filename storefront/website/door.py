"""The password page of a shop whose doors are closed (`staff/doors.py`)."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from storefront.checkout.forms import CheckoutForm
from storefront.kit.api.http import SeeOther
from storefront.kit.middleware import Middleware
from storefront.shops.places import SECURE, SHOP, arrival_url, local_path, page_url, root_of
from storefront.shops.request import Request
from storefront.shops.throttle import TooManyTries
from storefront.staff import doors
from storefront.website.account_forms import MAX_PASSWORD_LENGTH

# Pages of a closed shop that need no password: what the password page loads, robots.txt, and pages whose URL is a
# secret of a buyer or of somebody with a checkout link.
OPEN = {
    *("website:colours", "website:robots", "website:door"),
    *("checkout:resume", "checkout:confirmation", "checkout:confirmation_blocks", "checkout:order_email"),
    *("checkout:document", "checkout:download", "checkout:gift_card"),
    *("website:confirm_stock_alert", "website:stop_stock_alerts"),
    *("checkout:payment_step", "checkout:payment_return", "checkout:payment_another"),
}
# Requests of search engines, which get no password page.
FOR_MACHINES = {"website:sitemap", "website:sitemap_part"}
WRONG = gettext_lazy("The password is incorrect.")


class PasswordForm(CheckoutForm):
    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=MAX_PASSWORD_LENGTH,
        widget=forms.PasswordInput({"autocomplete": "off"}),
    )


class Door(Middleware):
    """Middleware: instead of the pages of a closed shop, visitors who were not let in see the password page."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: Any, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        if match.namespace not in ("website", "checkout") or match.view_name in OPEN:
            return None
        if not request.shop or doors.is_let_in(request):
            return None
        if match.view_name in FOR_MACHINES:
            raise Http404
        path = request.get_full_path() if request.method == "GET" else ""
        return never_cache(lambda _: _page(request, PasswordForm(), path, status=403))(request)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def door(request: Request) -> HttpResponse:
    """Ask for the password, then redirect to the requested page. On the secure host, `next` can be a path of the shop's
    own host, which then lets the visitor in, too."""
    if not request.shop:
        raise Http404(_("There is no shop at this address."))
    path = local_path(request.POST.get("next") or request.GET.get("next")) or ""
    if doors.is_let_in(request):
        return SeeOther(_onward(request, path))
    form = PasswordForm(request.POST if request.method == "POST" else None)
    status = 422 if form.is_bound else 200
    if form.is_valid():
        try:
            if doors.try_password(request, form.cleaned_data["password"]):
                return SeeOther(_onward(request, path))
            form.add_error("password", WRONG)
        except TooManyTries as refusal:
            form.add_error(None, refusal.text)
            status = 429
    return _page(request, form, path, status=status)


def _onward(request: Request, path: str) -> str:
    if request.place == SECURE and not path.startswith(root_of(request.shop)):
        return arrival_url(SHOP, request.shop, path or "/")
    return path or page_url(request, "website:home")


def _page(request: Request, form: PasswordForm, path: str, *, status: int) -> HttpResponse:
    """The page with the form. On the shop's own host, where apps' scripts run, it has a link to the secure host's."""
    context: dict[str, Any] = {"form": form, "next": path}
    if request.place == SHOP:
        query = f"?{urlencode({'next': path})}" if path else ""
        context["door"] = page_url(request, "website:door", plain=True) + query
    response = render(request, "website/door.html", context, status=status)
    response["X-Robots-Tag"] = "noindex"
    return response
