import pytest
import time_machine

from tests.shops.factories import NOW
from tests.staff import make_staff


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def anna(shop):
    """The shop's owner."""
    return make_staff(shop)
