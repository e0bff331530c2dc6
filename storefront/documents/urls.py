from django.urls import path

from storefront.documents import links

app_name = "documents"

urlpatterns = [
    path("documents/<int:document_id>", links.document_file, name="file"),
    path("documents/packing-slips/<int:order_id>", links.packing_slip_file, name="packing_slip"),
    path(
        "documents/packing-slips/<int:order_id>/<int:fulfilment_id>",
        links.packing_slip_file,
        name="parcel_packing_slip",
    ),
]
