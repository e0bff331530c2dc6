"""No shop or scope gets another's responses, or stale ones after a commit of the same process."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.apps import actions as app_actions
from storefront.catalogue import actions
from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.shops.models import ApiToken, Shop
from storefront.staff import actions as shop_actions
from tests.catalogue.factories import make_category, make_product
from tests.factories.apps import install, make_app
from tests.server.edges import EdgeClient, comparable
from tests.shops.factories import make_shop, make_token

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

SCOPES = [("read_products",), ("write_cart",), ("read_products", "read_cart"), ("read_cart", "write_cart")]
# The tokens of the app's two installations come after the shops' own.
APPS = 2 * len(SCOPES)
PATHS = ["/products", "/products?per_page=1", "/products/mug", "/products/1", "/categories", "/categories/cups"]
WAYS = [{}, {"Accept_Encoding": "gzip"}, {"method": "HEAD"}, {"If_None_Match": "*"}]

CHANGES = st.one_of(
    st.tuples(st.sampled_from(["rename", "publish", "hide", "create", "delete"]), st.integers(0, 1)),
    st.tuples(st.sampled_from(["revoke", "renew"]), st.integers(0, 7)),
    st.tuples(st.sampled_from(["uninstall", "install", "rotate", "narrow"]), st.integers(8, 9)),
)
# What changes, and how the catalogue is then read: a path, and the way of asking.
STEPS = st.lists(st.tuples(CHANGES, st.sampled_from(PATHS), st.sampled_from(WAYS)), min_size=6, max_size=12)


class Merchants:
    """Two shops that look the same but for their mark, the integrations of each, and one app in both."""

    def __init__(self) -> None:
        self.shops = [make_shop("one.example.com"), make_shop("two.example.com")]
        for shop, mark in zip(self.shops, ("ONE", "TWO"), strict=True):
            cups = make_category(shop, "Cups", description=mark)
            make_product(shop, "Mug", description=mark, categories=(cups,))
        self.tokens = [make_token(shop, *scopes) for shop in self.shops for scopes in SCOPES]
        app = make_app()
        self.installed = [install(shop, "read_products", app=app) for shop in self.shops]
        self.tokens += [installed.token for installed in self.installed]
        self.revoked: set[int] = set()

    def shop_of(self, token: int) -> int:
        return token // len(SCOPES) if token < APPS else token - APPS

    def installation(self, number: int) -> dict[str, Any]:
        installation = self.installed[number - APPS].installation
        return {"shop": installation.shop, "installation": installation, "now": clock.now()}

    def uninstall(self, number: int) -> None:
        with suppress(app_actions.NotInstalled):
            app_actions.uninstall_app(**self.installation(number))

    def install(self, number: int) -> None:
        """Once more, where it was uninstalled."""
        before = self.installed[number - APPS].installation
        with suppress(app_actions.AlreadyInstalled):
            self.installed[number - APPS] = install(before.shop, "read_products", app=before.app)
            self.tokens[number] = self.installed[number - APPS].token

    def rotate(self, number: int) -> None:
        with suppress(app_actions.NotInstalled):
            self.tokens[number] = app_actions.rotate_token(**self.installation(number))
            app_actions.end_old_tokens(**self.installation(number))

    def narrow(self, number: int) -> None:
        with suppress(app_actions.NotInstalled):
            app_actions.change_scopes(**self.installation(number), scopes=["read_cart"])

    def write(self, what: str, number: int) -> None:
        shop, now = self.shops[number], clock.now()
        mug = Product.objects.get(shop=shop, slug="mug")
        mark = ("ONE", "TWO")[number]
        match what:
            case "rename":
                actions.update_product(shop=shop, product=mug, now=now, name=f"Mug of {now}")
            case "publish" | "hide":
                status = "active" if what == "publish" else "draft"
                actions.set_status(shop=shop, products=Product.objects.filter(pk=mug.pk), status=status, now=now)
            case "create":
                actions.create_product(shop=shop, now=now, name="Jug", description=mark, status="active")
            case "delete":
                jug = Product.objects.filter(shop=shop, deleted_at=None, name="Jug").first()
                if jug:
                    actions.delete_product(shop=shop, product=jug, now=now)

    def revoke(self, number: int) -> None:
        shop = self.shops[self.shop_of(number)]
        token = ApiToken.objects.get(ending=self.tokens[number][-4:], shop=shop)
        shop_actions.revoke_api_token(shop=shop, token=token, now=clock.now())
        self.revoked.add(number)

    def renew(self, number: int) -> None:
        self.tokens[number] = make_token(self.shops[self.shop_of(number)], *SCOPES[number % len(SCOPES)])
        self.revoked.discard(number)


@pytest.mark.django_db(transaction=True)
@given(steps=STEPS)
def test_callers_get_only_the_current_catalogue_of_their_own_shop(transactional_db, steps):
    Shop.objects.all().delete()
    merchants, remembering, asking = Merchants(), EdgeClient(), EdgeClient(capacity=0)
    for (what, number), path, way in steps:
        for asked in (path, "/products/mug"):
            compare(merchants, remembering, asking, asked, way)
        if hasattr(merchants, what):
            getattr(merchants, what)(number)
        else:
            merchants.write(what, number)
        for asked in (path, "/products/mug"):
            compare(merchants, remembering, asking, asked, way)
    assert remembering.hits > len(steps)


def compare(merchants: Merchants, remembering: EdgeClient, asking: EdgeClient, path: str, way: dict[str, str]) -> None:
    """Every caller of both shops gets the response that Django would give now."""
    for number in (0, 4, 8, 9, 1, 6):
        token = merchants.tokens[number]
        answer = remembering.ask(path, token, **way)
        assert comparable(answer) == comparable(asking.ask(path, token, **way))
        assert ("TWO", "ONE")[merchants.shop_of(number)].encode() not in answer.data
        if number < APPS and "read_products" not in SCOPES[number % len(SCOPES)]:
            assert answer.status_code == (401 if number in merchants.revoked else 403)
