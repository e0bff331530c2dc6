"""Where providers send their news: that something has happened to a payment, not what.

Threats. Anybody can post here, so a body without the provider's signature for this shop is refused, and one shop's news
find this shop's payments only. A provider sends the same event several times, late and out of order: each is logged
once, and what it is about is asked of the provider.
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
from storefront.payments.queries import payment_of_news
from storefront.payments.rules import clean
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
    try:
        news = known.parse_event(request, settings_of(request.shop, provider))
    except ProviderRefused as refused:
        log.warning("provider_news_refused", provider=provider, reason=str(refused))
        return HttpResponseBadRequest()
    except Exception as error:
        # Whatever was posted, it is not news.
        log.warning("provider_news_refused", provider=provider, reason=type(error).__name__)
        return HttpResponseBadRequest()
    payment = payment_of_news(request.shop, provider, news)
    if payment is not None and note_news(shop=request.shop, payment=payment, news=news, now=request.now):
        # If that has no answer, the worker asks: the event made the payment due.
        ask(shop=request.shop, payment=payment, source="news", now=request.now)
    return HttpResponse(status=200)


@transaction.atomic
def note_news(*, shop: Shop, payment: Payment, news: News, now: datetime) -> bool:
    """Log an event, and make its payment due. False if it was logged before."""
    entry = {"at": now, "kind": PaymentEntry.Kind.NEWS, "source": "news", "detail": clean(news.kind, 255)}
    states = {"from_state": payment.state, "to_state": payment.state}
    _, is_new = PaymentEntry.objects.get_or_create(
        shop=shop, payment=payment, event_id=clean(news.event_id, 255), defaults=entry | states
    )
    if is_new:
        Payment.objects.filter(shop=shop, pk=payment.pk).update(due_at=now)
    return is_new
