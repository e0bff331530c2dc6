from django.urls import path, re_path

from storefront.checkout import (
    blocks,
    download_pages,
    gift_card_pages,
    handover_pages,
    link_pages,
    method_pages,
    order_access,
    pages,
    payment_pages,
)

app_name = "checkout"

open_pages = [path("cart/resume", link_pages.resume, name="resume")]
secure_pages = [
    path("checkout", pages.details, name="checkout"),
    path("checkout/undo", pages.undo, name="undo"),
    path("checkout/delivery", pages.delivery, name="delivery"),
    path("checkout/discount-codes", pages.discount_codes, name="discount_codes"),
    path("checkout/gift-cards", pages.gift_cards, name="gift_cards"),
    path("checkout/payment", pages.payment, name="payment"),
    path("checkout/payment-methods", method_pages.methods, name="payment_methods"),
    path("checkout/payment/<uuid:public_id>", payment_pages.payment_step, name="payment_step"),
    path("checkout/payment/<uuid:public_id>/return", payment_pages.payment_return, name="payment_return"),
    path("checkout/payment/<uuid:public_id>/another", payment_pages.choose_another, name="payment_another"),
    path("checkout/blocks", blocks.checkout_blocks, name="checkout_blocks"),
    path("orders/<uuid:public_id>", pages.confirmation, name="confirmation"),
    path("orders/<uuid:public_id>/e-mail", order_access.order_email, name="order_email"),
    path("orders/<uuid:public_id>/documents/<int:document_id>", order_access.document, name="document"),
    path("gift-card", gift_card_pages.gift_card, name="gift_card"),
    path("downloads/<str:token>", download_pages.download, name="download"),
    path("orders/<uuid:public_id>/blocks", blocks.confirmation_blocks, name="confirmation_blocks"),
]
urlpatterns = [*open_pages, *secure_pages]

# Only where secure pages have a host of their own. On both hosts: the handover of a visitor from one to the other. On
# the secure host: the second half of following a checkout link. On the shop's host: redirects to the secure pages.
hand_over_pages = [path("arrive", handover_pages.arrive), path("hand-over", handover_pages.hand_over)]
link_arrival_pages = [path("cart/arrive", handover_pages.arrive_by_link)]
moved_pages = [
    re_path(
        r"^(?P<path>(?:checkout|account|orders|downloads|gift-card|contact|door)(?:/.*)?)$",
        handover_pages.redirect_to_secure,
    )
]
