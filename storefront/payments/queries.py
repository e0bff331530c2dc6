from uuid import UUID

from storefront.payments.models import Payment
from storefront.payments.providers.base import News
from storefront.payments.rules import MAX_REFERENCE_LENGTH, clean
from storefront.shops.models import Shop


def payment_by_public_id(shop: Shop, public_id: UUID) -> Payment | None:
    """The payment with this unguessable id, with its draft and its order."""
    return Payment.objects.filter(shop=shop, public_id=public_id).select_related("draft", "order").first()


def payment_of_news(shop: Shop, provider: str, news: News) -> Payment | None:
    """The shop's payment that a provider's news are about: by its reference or, before we know that, by our key."""
    payments = Payment.objects.filter(shop=shop, gateway=provider).select_related("draft", "order")
    reference = clean(news.reference, MAX_REFERENCE_LENGTH)
    found = payments.filter(reference=reference).first() if reference else None
    return found or (payments.filter(key=news.key).first() if news.key else None)
