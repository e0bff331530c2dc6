from django.urls import path

from storefront.exports import links

app_name = "exports"

urlpatterns = [path("exports/<uuid:public_id>", links.export_file, name="file")]
