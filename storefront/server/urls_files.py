"""URL patterns of hosts without pages of a shop: uploaded files, and a robots.txt that keeps search engines out. Static
files are served before any of these patterns."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from storefront.server import wellknown
from storefront.server.media import uploaded_file


def robots_txt(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("User-agent: *\nDisallow: /\n", content_type="text/plain")


urlpatterns = [
    path("media/<path:path>", uploaded_file),
    path("robots.txt", robots_txt),
    *wellknown.urlpatterns,
]

handler400 = "storefront.website.errors.bad_request"
handler403 = "storefront.website.errors.forbidden"
handler404 = "storefront.website.errors.not_found"
handler500 = "storefront.website.errors.server_error"
