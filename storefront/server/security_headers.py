"""The security headers of every response: of pages, the API, files, errors, responses from the edge's memory and the
gate's rejections."""

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from storefront.kit.middleware import Middleware
from storefront.website.security import POLICY

# Features that none of our pages uses, so that no script in them can.
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        *("accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "geolocation"),
        *("gyroscope", "hid", "magnetometer", "microphone", "midi", "serial", "usb", "xr-spatial-tracking"),
    )
)
# A file that is opened directly runs no scripts. The policies of pages are in `website/security.py`.
POLICIES = {
    "file": "default-src 'none'; sandbox",
    "no file": "; ".join(f"{name} {what}" for name, what in POLICY.items()),
}
# Files that other sites may embed: integrations show the shop's pictures.
FILES = (settings.STATIC_URL, settings.MEDIA_URL)


class SecurityHeaders(Middleware):
    """Adds the security headers that the response does not set itself."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        headers = response.headers
        for name, value in security_headers(_kind(request, response), settings.HTTPS, settings.HSTS_SECONDS):
            headers.setdefault(name, value)
        # What this page alone may use besides, as for a wallet on the payment step.
        for feature, origins in getattr(request, "page_permissions", {}).items():
            headers["Permissions-Policy"] += f", {feature}=({' '.join(origins)})"
        return response


def _kind(request: HttpRequest, response: HttpResponse) -> str:
    path = request.path_info
    if path.startswith("/api/"):
        return "api"
    if path.startswith(FILES):
        return "file" if response.status_code < 400 else "no file"
    return "page"


@cache
def security_headers(kind: str, https: bool, hsts_seconds: int) -> list[tuple[str, str]]:
    """The headers by kind of response: `page`, `api`, `file`, or `no file` for the error page of a file's URL."""
    headers = [
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "cross-origin" if kind == "file" else "same-origin"),
    ]
    if kind in ("page", "no file"):
        headers.append(("Permissions-Policy", PERMISSIONS))
    if kind in POLICIES:
        headers.append(("Content-Security-Policy", POLICIES[kind]))
    if https and hsts_seconds:
        headers.append(("Strict-Transport-Security", f"max-age={hsts_seconds}"))
    return headers
