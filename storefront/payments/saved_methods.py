"""Payment methods that providers keep for customers: kept after a payment that asked for it, offered, removed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

import structlog

from storefront.customers.models import Customer
from storefront.kit.money import ZERO
from storefront.kit.refusals import NotFound
from storefront.payments.accounts import charge_of, identify_account, settings_of
from storefront.payments.models import Payment, ProviderAccount, SavedMethod
from storefront.payments.providers.base import Charge, Provider, ProviderUnavailable
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import MAX_REFERENCE_LENGTH, State, clean
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Keeping:
    """The shopper's choice about saved methods: the one to charge, and whether to save a new one."""

    saved: SavedMethod | None = None
    saves: bool = False


NOTHING_KEPT = Keeping()


def saved_methods(shop: Shop, customer: Customer) -> list[SavedMethod]:
    """The customer's saved methods in this shop, oldest first."""
    return list(SavedMethod.objects.filter(shop=shop, customer=customer).order_by("pk"))


def offered_methods(shop: Shop, customer: Customer | None, providers: Iterable[Provider]) -> list[SavedMethod]:
    """The customer's saved methods that can be charged through these providers, in the shop's current accounts; none
    for a visitor who is not signed in."""
    names = {provider.name for provider in providers if provider.can_save}
    methods = saved_methods(shop, customer) if customer and names else []
    if not methods:
        return []
    accounts = ProviderAccount.objects.filter(shop=shop, provider__in=names)
    references = dict(accounts.values_list("provider", "account_reference"))
    # The reference is empty while the account is not known, and null if it never was asked for.
    known = {name: reference or "" for name, reference in references.items() if reference != ""}
    return [each for each in methods if known.get(each.provider) == each.account_reference]


def keep_method(*, shop: Shop, payment: Payment, now: datetime) -> None:
    """Save the method of a payment whose shopper asked for it, once its order stands. Call it outside any transaction.

    The provider is asked once. Without an answer nothing is saved, and the order is as it would be without.
    """
    order = payment.order
    if payment.state not in (State.AUTHORISED, State.PAID) or order is None or order.customer_id is None:
        return
    # Only one of several concurrent calls continues.
    if not Payment.objects.filter(shop=shop, pk=payment.pk, saves_method=True).update(saves_method=False):
        return
    try:
        # Before: with the secrets of another account, the provider would not find the payment.
        account = identify_account(shop=shop, name=payment.gateway)
        kept = PROVIDERS[payment.gateway].save_method(charge_of(shop, payment))
    except Exception as error:
        # The message may quote what was sent.
        log.warning("method_not_saved", payment=payment.pk, provider=payment.gateway, reason=type(error).__name__)
        return
    if kept is not None and max(len(kept.method_reference), len(kept.customer_reference)) <= MAX_REFERENCE_LENGTH:
        kept = clean(kept, label=100, expires=10)
        SavedMethod.objects.get_or_create(
            shop=shop,
            provider=payment.gateway,
            method_reference=kept.method_reference,
            defaults={
                "account_reference": account,
                "customer_id": order.customer_id,
                "customer_reference": kept.customer_reference,
                "label": kept.label,
                "expires": kept.expires,
                "created_at": now,
            },
        )


def remove_method(*, shop: Shop, customer: Customer, method_id: int) -> None:
    """Delete the customer's saved method, at its provider first. Call it outside any transaction.

    Raises NotFound, or ProviderUnavailable: then it is still saved.
    """
    method = SavedMethod.objects.filter(shop=shop, customer=customer, pk=method_id).first()
    if method is None:
        raise NotFound
    provider = PROVIDERS.get(method.provider)
    if provider is not None and provider.can_save:
        charge = Charge(
            shop_id=shop.pk,
            key=uuid4(),
            amount=ZERO,
            currency=shop.currency,
            settings=settings_of(shop, method.provider),
            customer_reference=method.customer_reference,
            method_reference=method.method_reference,
        )
        try:
            provider.forget_method(charge)
        except Exception as error:
            log.warning("method_not_forgotten", provider=provider.name, reason=type(error).__name__)
            raise ProviderUnavailable from None
    SavedMethod.objects.filter(shop=shop, pk=method.pk).delete()
