"""Which shops' rows are not written here at the moment, since they move from or to another pod (`server/moving`)."""

from contextlib import suppress

from django.db import Error
from django.db.models import Q

from storefront.pods.models import ShopMove

# Steps of a move at which the worker goes on with the shop's rows.
WORKED_ON = (ShopMove.Step.ASKED, ShopMove.Step.COPYING, ShopMove.Step.ARRIVED)
MOVING = ShopMove.objects.exclude(step__in=WORKED_ON).values("shop_id")
# For sweeps: the rows of shops that do not move. The database refuses writes of the others' rows. One that is refused
# would end the sweep before the rows behind it have their turn.
NOT_MOVING = ~Q(shop__in=MOVING)


def has_moved_meanwhile(request: object) -> bool:
    """Returns True if the shop of a request that failed is moving or has moved: it may have read rows, and then not
    found them again. The next try finds the shop where it is."""
    shop = getattr(request, "shop", None)
    if shop is None:
        return False
    with suppress(Error):
        return MOVING.filter(shop_id=shop.pk).exists()
    return False
