"""Well-known paths of every host: where to report a vulnerability (RFC 9116), where to change a password (a shopper's
on a shop's host, the staff's on the admin's), that a host is served here, and the icon that browsers request by
themselves."""

from datetime import UTC, timedelta

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.urls import NoReverseMatch, path
from django.views.decorators.http import require_safe

from storefront.shops.places import ADMIN, page_url
from storefront.shops.request import Request
from storefront.staff import domains

# How long the contact is valid; RFC 9116 recommends less than a year.
VALID = timedelta(days=180)
# Seconds for which browsers cache the redirect to the icon, whose file name changes with its content.
ICON_SECONDS = 3600


@require_safe
def security_txt(request: Request) -> HttpResponse:
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (request.now + VALID).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [*(f"Contact: {each}" for each in settings.SECURITY_CONTACT), f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}"]
    return HttpResponse("\n".join([*lines, "Preferred-Languages: en", ""]), content_type="text/plain; charset=utf-8")


@require_safe
def change_password(request: Request) -> HttpResponse:
    for name in ("website:account_details", "admin:password_change"):
        if request.place == ADMIN and name.startswith("website:"):
            continue
        try:
            return HttpResponseRedirect(page_url(request, name))
        except NoReverseMatch:
            continue
    raise Http404


@require_safe
def favicon(_request: Request) -> HttpResponse:
    """For documents that name no icon, such as files that are opened directly."""
    return HttpResponseRedirect(static("website/icon.svg"), headers={"Cache-Control": f"max-age={ICON_SECONDS}"})


@require_safe
def shop_domain(request: Request) -> HttpResponse:
    """Shows the check of a further domain that this host is served here."""
    proof = domains.proof_of(request.get_host().partition(":")[0])
    return HttpResponse(proof, content_type="text/plain", headers={"Cache-Control": "no-store"})


urlpatterns = [
    path(domains.PROOF_PATH.removeprefix("/"), shop_domain),
    path("favicon.ico", favicon),
    path(".well-known/security.txt", security_txt),
    path(".well-known/change-password", change_password),
]
