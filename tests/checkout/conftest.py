import pytest
import time_machine

from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.providers.demo import Demo
from storefront.payments.providers.registry import PROVIDERS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.shops.factories import NOW
from tests.verifying import everything_agrees as everything_agrees


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=50)


@pytest.fixture
def pot(shop):
    return make_product(shop, "Pot", stock_qty=50)


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


class Recording(Demo):
    """The demo provider, recording its calls."""

    def __init__(self):
        self.started, self.captured, self.cancelled = [], [], []
        self.is_away = False

    def start(self, charge):
        step = super().start(charge)
        self.started.append(step.report.reference)
        return step

    def capture(self, charge):
        if self.is_away:
            raise ProviderUnavailable
        self.captured.append(charge.reference)
        return super().capture(charge)

    def cancel(self, charge):
        if self.is_away:
            raise ProviderUnavailable
        self.cancelled.append(charge.reference)
        return super().cancel(charge)


@pytest.fixture
def gateway(monkeypatch):
    gateway = Recording()
    monkeypatch.setitem(PROVIDERS, "demo", gateway)
    return gateway
