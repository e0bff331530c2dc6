import pytest

from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import make_token
from tests.sync.lists import KINDS, Place, fill


@pytest.fixture
def cast(shop, other_shop) -> None:
    fill(shop)
    fill(other_shop)


@pytest.fixture(params=[(kind, is_app) for kind in KINDS for is_app in (False, True)], ids=str)
def place(request, shop, cast) -> Place:
    kind, is_app = request.param
    if is_app:
        return Place(install(shop, f"read_{kind}").api, f"/{kind}", kind)
    return Place(ApiClient(make_token(shop, f"read_{kind}")), f"/{kind}", "data")
