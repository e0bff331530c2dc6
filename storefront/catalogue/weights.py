from django.db.models import Exists, OuterRef, Q

from storefront.catalogue.models import Product, Variant


def without_weight() -> Q:
    """The condition for products to send that have no weight: neither of their own, nor by all their variants."""
    variants = Variant.objects.filter(product=OuterRef("pk"), is_active=True)
    unknown = Q(weight=0) & (~Exists(variants) | Exists(variants.filter(weight=None)))
    return (unknown | Exists(variants.filter(weight=0))) & Q(requires_shipping=True) & ~Q(type=Product.Type.DIGITAL)
