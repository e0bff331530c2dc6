from datetime import timedelta

from django.utils import timezone

from storefront.checkout.jobs import KEPT_FOR, delete_abandoned_checkouts
from storefront.checkout.models import Checkout
from storefront.orders.models import Order
from tests.catalogue.factories import make_product


def test_deletes_abandoned_checkouts_and_keeps_orders(shop, api, shopper):
    mug = make_product(shop)
    shopper.bring(api, {"product_id": mug.pk})
    shopper.order()
    shopper.bring(api, {"product_id": mug.pk})
    shopper.fill_details()
    now = timezone.now()
    assert delete_abandoned_checkouts(now=now + KEPT_FOR - timedelta(minutes=1), limit=10) == 0
    assert delete_abandoned_checkouts(now=now + KEPT_FOR + timedelta(minutes=1), limit=1) == 1
    assert delete_abandoned_checkouts(now=now + KEPT_FOR + timedelta(minutes=1), limit=10) == 1
    assert not Checkout.objects.exists()
    assert Order.objects.count() == 1
