"""The service's own paths, and some whose handler has a defect."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from storefront.server.urls import urlpatterns as real


def broken(request: HttpRequest) -> HttpResponse:
    raise ZeroDivisionError("the secret inside")


urlpatterns = [
    path("api/v1/broken", broken),
    path("broken-page", broken),
    path("orders/<uuid:id>/broken", lambda request, id: broken(request)),
    *real,
]
