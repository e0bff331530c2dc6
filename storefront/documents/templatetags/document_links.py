"""The documents of an order, for the shopper's pages."""

from django import template

from storefront.documents.models import Document
from storefront.documents.queries import documents_of
from storefront.orders.models import Order
from storefront.shops.models import Shop

register = template.Library()


@register.simple_tag
def issued_documents(order: Order, shop: Shop) -> list[Document]:
    return list(documents_of(shop, order))
