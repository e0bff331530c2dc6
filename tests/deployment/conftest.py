import pytest

from storefront.shops.models import User
from tests.staff import open_desk


@pytest.fixture
def operator(shop):
    """A browser of the deployment's operator, in the admin of `shop`."""
    return open_desk(User.objects.create_superuser("operator", "operator@example.com", "lighthouse-1"), shop)
