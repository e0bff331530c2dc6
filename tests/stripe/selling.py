"""A shop that sells through the fake."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import connections

from storefront.kit import clock
from storefront.payments.accounts import save_settings
from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds
from storefront.payments.models import Payment
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.models import Shop
from tests.stripe.client import KEYS


def offer_stripe(shop: Shop, capture: str = "at_once", **keys: str) -> None:
    save_settings(shop=shop, provider=PROVIDERS["stripe"], given=KEYS | keys | {"capture": capture}, now=clock.now())
    shop.payment_methods = ["stripe"]
    shop.save(update_fields=["payment_methods"])


def run_worker(after: timedelta = timedelta(0)) -> None:
    """What the worker does for payments so long from now. In a thread: the one of a browser test has an event loop."""

    def sweep(now: datetime) -> None:
        try:
            for batch in (ask_providers, end_expired_drafts, pay_back_refunds):
                while batch(now=now, limit=100):
                    pass
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(sweep, clock.now() + after).result()


def books_agree(payment: Payment, intent: dict) -> bool:
    """Whether the payment's log adds up to what the provider holds of it."""
    entries = sum(entry.amount for entry in payment.entries.all())
    return entries == payment.captured - payment.returned - payment.disputed and (
        payment.captured * 100 == intent["amount_received"]
    )
