"""Adds rows with money to the database of release 0.1.0 that was migrated to the schema of 26 November 2026, the last
one with decimals: among them gift cards whose balances are not what their logs add up to.

It ran once, with the code of that day, and made the two files beside it; see README.md. It is kept to show what they
hold. Later code neither imports nor runs it.
"""

import os
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
django.setup()

from django.db import transaction  # noqa: E402

from storefront.carts import actions as carts  # noqa: E402
from storefront.catalogue import actions as catalogue  # noqa: E402
from storefront.catalogue.models import Product, Variant  # noqa: E402
from storefront.customers.models import CustomerGroup  # noqa: E402
from storefront.gift_cards import ledger  # noqa: E402
from storefront.gift_cards.models import GiftCard  # noqa: E402
from storefront.kit import clock  # noqa: E402
from storefront.payments import actions as payments  # noqa: E402
from storefront.payments.line_refunds import Pieces  # noqa: E402
from storefront.payments.refunds import record_refunded, request_refund  # noqa: E402
from storefront.pricing.delivery_models import DeliveryZone, PickupPlace, ShippingRate, ShippingRateStep  # noqa: E402
from storefront.pricing.models import Discount, GroupPrice  # noqa: E402
from storefront.shops.models import Shop  # noqa: E402
from tests.catalogue.factories import make_product, make_variant  # noqa: E402
from tests.gift_cards.factories import make_card  # noqa: E402
from tests.orders.factories import make_order, sale_line  # noqa: E402

LARGEST = Decimal("999999999999.99")
now = clock.now()


def fill(shop: Shop) -> None:
    vase = make_product(
        shop, "Vase", stock_qty=50, price=Decimal("4.35"), cost_price=Decimal("0.29"), sku=f"V{shop.pk}"
    )
    make_variant(vase, name="Red", price=Decimal("19.99"), compare_price=Decimal("1.15"), stock_qty=50)
    bowl = make_product(
        shop, "Bowl", stock_qty=50, price=Decimal("1.10"), compare_price=LARGEST, setup_fee=Decimal("0.07"),
        damaged_price=Decimal("0.57"), allow_custom_price=True, min_custom_price=Decimal("0.01"),
    )  # fmt: skip
    for price in ("2.20", "3.30"):
        catalogue.update_product(shop=shop, product=Product.objects.get(pk=bowl.pk), now=now, price=Decimal(price))
    sale = {"sale_price": Decimal("2.05"), "sale_from": now + timedelta(days=900)}
    catalogue.update_product(shop=shop, product=Product.objects.get(pk=bowl.pk), now=now, **sale)
    group = CustomerGroup.objects.filter(shop=shop).first()
    GroupPrice.objects.create(shop=shop, group=group, product=bowl, price=Decimal("1.05"))
    Discount.objects.create(
        shop=shop,
        name="Autumn",
        kind="amount",
        value=Decimal("0.35"),
        minimum_subtotal=Decimal("8.20"),
        is_active=False,
    )
    PickupPlace.objects.create(shop=shop, name="Kiosk", price=Decimal("0.55"))
    zone = DeliveryZone.objects.filter(shop=shop).first()
    rate = ShippingRate.objects.create(
        shop=shop, zone=zone, name="By weight", free_from=Decimal("64.10"), basis="weight"
    )
    ShippingRateStep.objects.create(shop=shop, rate=rate, price=Decimal("4.10"))
    cart = {"shop": shop, "token": None, "now": now, "product_id": bowl.pk, "qty": 3}
    carts.add_line(**cart, custom_price=Decimal("9.95"))
    order = make_order(shop, sale_line(vase.variants.get(), 3, line_total=Decimal("12.50")), now=now)
    payments.mark_paid(shop=shop, order=order, now=now)
    line = order.lines.get()
    for _ in range(3):
        refund = request_refund(shop=shop, order=order, lines=[Pieces(line.pk, 1)], now=now)
        record_refunded(shop=shop, refund=refund, reference=str(uuid4()), now=now)
    for value, spent, drift in (("50.00", "39.95", "0"), ("20.00", "5.00", "0.01"), ("10.00", "2.50", "0")):
        card, _ = make_card(shop, value)
        with transaction.atomic():
            ledger.spend(
                shop=shop, card_id=card.pk, amount=Decimal(spent), currency="EUR", key=uuid4(), cart_id=None, now=now
            )
        if Decimal(drift):
            card.refresh_from_db()
            GiftCard.objects.filter(pk=card.pk).update(balance=card.balance - Decimal(drift))


for each in Shop.objects.order_by("pk"):
    fill(each)
assert Variant.objects.filter(price=Decimal("19.99")).exists()
