"""URL patterns of the admin's own host."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from storefront.server import urls_files
from storefront.server.urls_files import handler400, handler403, handler404, handler500

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    *urls_files.urlpatterns,
]

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]
