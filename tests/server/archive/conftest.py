import pytest

from storefront.shops.models import Shop
from tests.server.archive.shops import fill


@pytest.fixture
def storages(settings, tmp_path):
    """The folder with both storages, and with the archives of a test."""
    settings.MEDIA_ROOT = tmp_path / "media"
    private = {**settings.STORAGES["private"], "OPTIONS": {"location": tmp_path / "private"}}
    settings.STORAGES = {**settings.STORAGES, "private": private}
    return tmp_path


@pytest.fixture
def filled(shop, other_shop, storages) -> Shop:
    fill(shop)
    fill(other_shop)
    return shop
