"""The page that stands in for what changes accounts and apps, in a pod that reads them from pod 0."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from storefront.pods import registry


def elsewhere(request: HttpRequest, path: str = "/admin/") -> HttpResponse | None:
    """The page that names where it is done, with a link to this path of pod 0's admin; None where it is done here."""
    if registry.is_written_here():
        return None
    context = {"sentence": registry.where(), "address": registry.address(path), "is_nav_sidebar_enabled": False}
    shown = {**admin.site.each_context(request), **context}
    response = render(request, "shops/admin/elsewhere.html", shown, status=registry.WrittenInPodZero.status)
    response["Cache-Control"] = "no-store"
    return response
