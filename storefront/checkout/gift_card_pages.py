"""The page on which the holder of a gift card sees it, with what is left on it, and prints it.

Threats: guessing codes by many tries, and codes that leak into logs, browser histories or error reports. So tries count
toward the checkout's limit, and the code is only sent in a form's body.
"""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from storefront.checkout.forms import GiftCardForm
from storefront.customers import limits
from storefront.documents.gift_cards import gift_card_response
from storefront.gift_cards.applying import MESSAGES, UnknownGiftCard, card_of_code, refusal_of
from storefront.gift_cards.codes import normal_code
from storefront.gift_cards.faces import face_of, page_of, qr_drawing
from storefront.gift_cards.models import GiftCard
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request


@sensitive_post_parameters("gift_card")
@require_http_methods(["GET", "HEAD", "POST"])
@private_page
def gift_card(request: Request) -> HttpResponse:
    """Ask for a code, then show the card, or its PDF."""
    form = GiftCardForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"form": form}
    status = 200
    if form.is_bound:
        status = 422
        if form.is_valid():
            try:
                code = form.cleaned_data["gift_card"]
                card = _card(request, code)
                refused = refusal_of(card, card.balance, request.shop, request.now)
                card.shop = request.shop
                if "pdf" in request.POST and not refused:
                    return gift_card_response(card, normal_code(code), request.now)
                context |= {"card": card, "refused": MESSAGES.get(refused), "form": GiftCardForm()}
                if not refused:
                    address = page_of(request.shop, normal_code(code))
                    context |= {"face": face_of(card, normal_code(code)), "qr": qr_drawing(address)}
                status = 200
            except (UnknownGiftCard, limits.LimitReached) as refusal:
                form.add_error("gift_card", refusal.text)
                status = refusal.status
    return render(request, "checkout/gift_card.html", context, status=status)


def _card(request: Request, code: str) -> GiftCard:
    """Raises UnknownGiftCard and LimitReached."""
    limits.check(request, "gift_cards")
    try:
        return card_of_code(request.shop, code)
    except UnknownGiftCard:
        limits.count(request, "gift_cards")
        raise
