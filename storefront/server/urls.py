from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from storefront.server import wellknown
from storefront.server.api import docs
from storefront.server.api.api import api
from storefront.server.media import uploaded_file

urlpatterns = [
    path("api/openapi.json", docs.openapi_json),
    path("api/docs", docs.docs),
    path("api/docs/errors", docs.errors),
    path("api/", api.urls),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("media/<path:path>", uploaded_file),
    *wellknown.urlpatterns,
    path("", include("storefront.checkout.urls")),
    path("", include("storefront.payments.urls")),
    path("", include("storefront.documents.urls")),
    path("", include("storefront.exports.urls")),
    path("", include("storefront.website.urls")),
]

handler400 = "storefront.website.errors.bad_request"
handler403 = "storefront.website.errors.forbidden"
handler404 = "storefront.website.errors.not_found"
handler500 = "storefront.website.errors.server_error"
