"""Where providers send their news: that something has happened to a payment, not what.

Threats. Anybody can post here, so a body without the provider's signature for this shop is refused, and one shop's news
find this shop's payments only. A provider sends the same event several times, late and out of order: each is logged
once, and what it is about is asked of the provider.

From such news to a webhook, an order goes through these functions (`tests/payments/test_thread.py` follows them):

1. `news.provider_news` verifies the event, finds its payment and logs it (`note_news`).
2. `asking.ask` asks the provider how the payment stands, outside any transaction.
3. `settling.settle` begins the transaction: it locks the payment (`lock_payment`), and refuses an answer that cannot be
   true (`rules.contradiction`).
4. `refund_ledger.record` and `payment_ledger.move` write the answer into refunds and payment, and append it to the log.
5. `placing.follow_payment` sees that the payments cover the draft, and `placing.place_order` turns it into an order:
6. `orders.actions.create_order` copies the sale into an order and its lines;
7. `orders.actions.announce_order` records the event `order.placed`, and `orders.actions.set_paid` the event
   `order.paid`, by `webhooks.actions.record_event`: each with the order as `orders.queries.order_record` tells it.
8. The commit. Then the worker's `webhooks.dispatch` makes the deliveries.
"""

from datetime import datetime

import structlog
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from storefront.payments.accounts import settings_of
from storefront.payments.asking import ask
from storefront.payments.models import Payment, PaymentEntry
from storefront.payments.providers.base import News, ProviderRefused
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import MAX_REFERENCE_LENGTH, clean
from storefront.shops.models import Shop
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

# Bytes of a body; an event of a provider has some kilobytes.
MAX_BODY_BYTES = 256 * 1024


@csrf_exempt
@require_POST
def provider_news(request: Request, provider: str) -> HttpResponse:
    """Logs an event and asks the provider about its payment. A response of 200 confirms that the event is stored."""
    known = PROVIDERS.get(provider)
    if known is None or not request.shop:
        raise Http404
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
        return HttpResponse(status=413)
    if not known.sends_news:
        return HttpResponseBadRequest()
    try:
        news = clean(
            known.parse_event(request, settings_of(request.shop, provider)),
            event_id=255,
            kind=255,
            reference=MAX_REFERENCE_LENGTH,
        )
    except ProviderRefused as refused:
        log.warning("provider_news_refused", provider=provider, reason=str(refused))
        return HttpResponseBadRequest()
    except Exception as error:
        # Whatever was posted, it is not news.
        log.warning("provider_news_refused", provider=provider, reason=type(error).__name__)
        return HttpResponseBadRequest()
    payment = _payment_of(request.shop, provider, news)
    if payment is not None and note_news(shop=request.shop, payment=payment, news=news, now=request.now):
        # If that has no answer, the worker asks: the event made the payment due.
        ask(shop=request.shop, payment=payment, source="news", now=request.now)
    return HttpResponse(status=200)


@transaction.atomic
def note_news(*, shop: Shop, payment: Payment, news: News, now: datetime) -> bool:
    """Log an event, and make its payment due. False if it was logged before."""
    entry = {"at": now, "kind": PaymentEntry.Kind.NEWS, "source": "news", "detail": news.kind}
    states = {"from_state": payment.state, "to_state": payment.state}
    _, is_new = PaymentEntry.objects.get_or_create(
        shop=shop, payment=payment, event_id=news.event_id, defaults=entry | states
    )
    if is_new:
        Payment.objects.filter(shop=shop, pk=payment.pk).update(due_at=now)
    return is_new


def _payment_of(shop: Shop, provider: str, news: News) -> Payment | None:
    """The shop's payment that the news are about: by its reference or, before we know that, by our key."""
    payments = Payment.objects.filter(shop=shop, gateway=provider).select_related("draft", "order")
    found = payments.filter(reference=news.reference).first() if news.reference else None
    return found or (payments.filter(key=news.key).first() if news.key else None)
