"""URL patterns of a host that has the admin and no shop."""

from django.contrib import admin
from django.urls import path

from storefront.server import wellknown

urlpatterns = [path("admin/", admin.site.urls), *wellknown.urlpatterns]
