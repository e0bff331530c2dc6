import pytest

from storefront.payments.accounts import save_settings
from storefront.payments.models import Payment
from storefront.payments.providers.registry import PROVIDERS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.payments.bank import SECRET, Account, Bank, bank_server
from tests.payments.provider import BankRedirect
from tests.shops.factories import NOW
from tests.verifying import everything_agrees as everything_agrees


@pytest.fixture
def bank(shop, monkeypatch):
    """The shop takes money through a bank, besides invoices."""
    with bank_server() as bank:
        provider = BankRedirect()
        monkeypatch.setitem(PROVIDERS, "bank", provider)
        shop.payment_methods = ["bank", "manual"]
        shop.save()
        settings = {"api": bank.url, "secret": SECRET, "capture": "at_once"}
        save_settings(shop=shop, provider=provider, given=settings, now=NOW)
        yield bank


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=10)


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)


def press(shopper: Shopper, mug, **given):
    """Put a mug into the basket, go through the checkout and press pay."""
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    return shopper.order(given.pop("method", "bank"), **given)


def stock(mug) -> int:
    mug.refresh_from_db()
    return mug.stock_qty


def account_of(bank: Bank) -> Account:
    (account,) = bank.accounts.values()
    return account


def return_path(payment: Payment | None = None) -> str:
    return f"/checkout/payment/{(payment or Payment.objects.get()).public_id}/return"
