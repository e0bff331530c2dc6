from uuid import UUID

from storefront.payments.models import Payment
from storefront.shops.models import Shop


def payment_by_public_id(shop: Shop, public_id: UUID) -> Payment | None:
    """The payment with this unguessable id, with its draft and its order."""
    return Payment.objects.filter(shop=shop, public_id=public_id).select_related("draft", "order").first()
