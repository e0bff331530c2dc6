"""URL patterns of the secure host, below the shop's segment of the path: checkout, accounts and orders."""

from django.urls import include, path

from storefront.checkout import urls as checkout
from storefront.server.urls_files import handler400, handler403, handler404, handler500
from storefront.website import urls as website

urlpatterns = [
    path("", include((checkout.secure_pages, checkout.app_name))),
    path("", include((website.secure_pages, website.app_name))),
    path("", include("storefront.payments.urls")),
    *checkout.hand_over_pages,
    *checkout.link_arrival_pages,
]

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
