"""URL patterns of a shop's own host, if the admin and the secure pages have separate hosts. Apps' scripts run here."""

from django.urls import include, path

from storefront.checkout import urls as checkout
from storefront.documents import urls as documents
from storefront.exports import urls as exports
from storefront.server import wellknown
from storefront.server.media import uploaded_file
from storefront.server.urls_files import handler400, handler403, handler404, handler500
from storefront.website import urls as website

urlpatterns = [
    path("media/<path:path>", uploaded_file),
    *wellknown.urlpatterns,
    path("", include((checkout.open_pages, checkout.app_name))),
    path("", include("storefront.payments.urls")),
    path("", include(documents)),
    path("", include(exports)),
    path("", include((website.open_pages, website.app_name))),
    *checkout.hand_over_pages,
    *checkout.moved_pages,
]

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
