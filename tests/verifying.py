"""Ends each test that sells with `storefront verify`."""

from collections.abc import Iterator

import pytest

from storefront.server.verifying import deviations
from storefront.shops.models import Shop


@pytest.fixture(autouse=True)
def everything_agrees(request: pytest.FixtureRequest) -> Iterator[None]:
    """After the test, stored values are what the rows that explain them say, in every shop. A test that breaks them by
    hand has the mark `disagrees`."""
    sells = "shop" in request.fixturenames and not request.node.get_closest_marker("disagrees")
    if sells:
        request.getfixturevalue("db")
    yield
    if sells:
        found = [deviation for shop in Shop.objects.all() for deviation in deviations(shop)]
        assert not found, found
