from datetime import datetime
from typing import Any

from storefront.shops.models import Shop
from storefront.webhooks.models import Event


def record_event(*, shop: Shop, topic: str, data: dict[str, Any], now: datetime) -> Event:
    """Write down that something happened. Call it inside the transaction that makes it happen."""
    return Event.objects.create(shop=shop, topic=topic, data=data, created_at=now)
