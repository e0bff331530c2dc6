from datetime import datetime
from typing import Any

from django.db import transaction

from storefront.content.actions import add_usual_pages
from storefront.shops.models import Shop
from storefront.staff.actions import create_shop


@transaction.atomic
def open_shop(*, now: datetime, **given: Any) -> Shop:
    """Create a shop (`staff.actions.create_shop`) with pages for its owner to edit and publish. Raises InvalidFields,
    and then has created nothing."""
    shop = create_shop(now=now, **given)
    add_usual_pages(shop=shop, now=now)
    return shop
