"""Deletes a person's baskets and checkouts."""

from django.db.models import Q, QuerySet

from storefront.carts.models import Cart
from storefront.checkout.models import Checkout
from storefront.customers.models import Customer
from storefront.shops.models import Shop


def checkouts_of(shop: Shop, email: str, customer: Customer | None) -> QuerySet[Checkout]:
    """The checkouts with this address, and those of the customer's basket."""
    own = Q(email__iexact=email)
    return Checkout.objects.filter(own | Q(cart__customer=customer) if customer else own, shop=shop)


def baskets_of(shop: Shop, email: str, customer: Customer | None) -> QuerySet[Cart]:
    """The customer's basket, and the baskets of checkouts with this address; never an integration's cart."""
    begun = checkouts_of(shop, email, customer).filter(cart__customer=None).values("cart")
    own = Q(pk__in=begun)
    return Cart.objects.filter(own | Q(customer=customer) if customer else own, shop=shop, token_digest=None)


def lock_baskets(shop: Shop, email: str, customer: Customer | None) -> tuple[list[Checkout], list[Cart]]:
    """The checkouts and baskets, locked in the same order as by paying: nobody can pay for them until the transaction
    ends."""
    checkouts = checkouts_of(shop, email, customer).select_for_update(of=("self",)).order_by("pk")
    found = list(checkouts)
    carts = {each.cart_id for each in found}
    known = Q(pk__in=carts, customer=None) | Q(customer=customer) if customer else Q(pk__in=carts, customer=None)
    rows = Cart.objects.filter(known, shop=shop, token_digest=None)
    return found, list(rows.select_for_update(of=("self",)).order_by("pk"))


def delete_baskets(checkouts: list[Checkout], baskets: list[Cart]) -> None:
    """Delete these locked checkouts and baskets, with all that is in them."""
    Checkout.objects.filter(pk__in=[each.pk for each in checkouts]).delete()
    Cart.objects.filter(pk__in=[each.pk for each in baskets]).delete()
