from typing import Any
from uuid import UUID

from storefront.kit.clock import timestamp
from storefront.kit.money import to_wire
from storefront.orders.models import Order, OrderLine
from storefront.shops.models import Shop

_MONEY = ("subtotal", "discount", "shipping", "tax", "total")


def order_by_public_id(shop: Shop, public_id: UUID) -> Order | None:
    """The order whose unguessable id this is, with lines and payments."""
    orders = Order.objects.filter(shop=shop, public_id=public_id)
    return orders.prefetch_related("lines", "payments").first()


def order_record(order: Order) -> dict[str, Any]:
    """The order as programs outside read it: money as strings, addresses and lines whole."""
    return {
        "id": order.pk,
        "number": order.number,
        "status": order.status,
        "payment_status": order.payment_status,
        "customer_id": order.customer_id,
        "email": order.email,
        "phone": order.phone,
        "currency": order.currency,
        **{name: to_wire(getattr(order, name)) for name in _MONEY},
        "prices_include_tax": order.prices_include_tax,
        "tax_lines": order.tax_lines,
        "discount_lines": order.discount_lines,
        "shipping_method": order.shipping_method,
        "shipping_address": order.shipping_address,
        "billing_address": order.billing_address,
        "payment_method": order.payment_method,
        "shopper_note": order.shopper_note,
        "placed_at": timestamp(order.placed_at),
        "cancelled_at": timestamp(order.cancelled_at),
        "lines": [order_line_record(line) for line in order.lines.all()],
    }


def order_line_record(line: OrderLine) -> dict[str, Any]:
    return {
        "id": line.pk,
        "product_id": line.product_id,
        "variant_id": line.variant_id,
        "sku": line.sku,
        "name": line.name,
        "image": line.image,
        "qty": line.qty,
        "unit_price": to_wire(line.unit_price),
        "line_total": to_wire(line.line_total),
        "tax": to_wire(line.tax),
        "is_digital": line.is_digital,
        "is_bundle": line.is_bundle,
        "is_damaged": line.is_damaged,
        "requires_shipping": line.requires_shipping,
        "bundle_items": line.bundle_items,
        "options": line.options,
        "custom_fields": line.custom_fields,
    }
