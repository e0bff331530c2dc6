from django.urls import path

from storefront.checkout import blocks, pages

app_name = "checkout"
urlpatterns = [
    path("cart/resume", pages.resume, name="resume"),
    path("checkout", pages.details, name="checkout"),
    path("checkout/delivery", pages.delivery, name="delivery"),
    path("checkout/payment", pages.payment, name="payment"),
    path("checkout/blocks", blocks.checkout_blocks, name="checkout_blocks"),
    path("orders/<uuid:public_id>", pages.confirmation, name="confirmation"),
    path("orders/<uuid:public_id>/blocks", blocks.confirmation_blocks, name="confirmation_blocks"),
]
