"""The moment of a date: lists, counts, filters, searches, records, ETags, copies, pages and baskets all change
then, whatever was cached, and whether or not a worker has written it."""

from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.dated.schedule import emit_scheduled_changes
from storefront.catalogue.dated.turning import turn_due
from storefront.catalogue.models import Product, Variant
from storefront.kit.clock import timestamp
from storefront.listing.facets import Chosen, facets_of
from storefront.listing.page import clear_caches
from storefront.listing.queries import ProductFilters
from storefront.shops import changes
from storefront.shops.audit_models import AuditEntry
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_category, make_product, make_public, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.server.edges import EdgeClient
from tests.shops.factories import NOW, make_token
from tests.sync.copying import Copy

pytestmark = pytest.mark.django_db(transaction=True)

DATE = NOW + timedelta(days=3)
INSTANT = timedelta(microseconds=1)
SALE = {"sale_price": Decimal("8.00")}
# The price at which the product is to be had before and from the date on; None: not at all.
KINDS = {
    "publication": ({"publish_at": DATE}, None, "10.00"),
    "its end": ({"unpublish_at": DATE}, "10.00", None),
    "sale": (SALE | {"sale_from": DATE}, "10.00", "8.00"),
    "sale with an end": (SALE | {"sale_from": DATE, "sale_until": DATE + timedelta(days=1)}, "10.00", "8.00"),
    "end of a sale": (
        SALE
        | {
            "price": Decimal("8.00"),
            "compare_price": Decimal("10.00"),
            "regular_compare_price": Decimal("0.00"),
            "sale_until": DATE,
        },
        "8.00",
        "10.00",
    ),
    # The worker was away for the begin, too.
    "end of a sale that no worker began": (
        SALE | {"sale_from": DATE - timedelta(days=1), "sale_until": DATE},
        "8.00",
        "10.00",
    ),
}


@pytest.fixture(autouse=True)
def nothing_else_ends_an_entry(monkeypatch) -> None:
    monkeypatch.setattr(changes, "MAX_STALE_SECONDS", 600)


class Reader:
    """Reads what a shop says of its mug, everywhere."""

    def __init__(self, shop) -> None:
        self.shop, self.edge, self.token = shop, EdgeClient(), make_token(shop)
        self.api = ApiClient(self.token)
        self.app = install(shop, "read_products", now=NOW).api
        self.visitor = Client(headers={"host": shop.domain})
        self.copy, self.copy_of_app = Copy(self.api, "/products"), Copy(self.app, "/products", "products")

    def get(self, path: str):
        """The answer through the edge, which is that without one."""
        answer = self.edge.ask(path, self.token)
        plain = EdgeClient(capacity=0).ask(path, self.token)
        assert (answer.status_code, answer.headers.get("ETag")) == (plain.status_code, plain.headers.get("ETag"))
        return answer

    def prices(self, now, since) -> dict[str, str | None]:
        """The mug's price by where it is read, None where it is not to be had."""
        found: dict[str, str | None] = {}
        for name, path in {
            "list": "/products",
            "by price": "/products?sort=price_asc",
            "by price, downwards": "/products?sort=price_desc",
            "category": "/products?category=cups&sort=price_asc",
            "search": "/products?q=mug",
            "search by price": "/products?q=stoneware&sort=price_desc",
            "ids": f"/products?ids={self.mug.pk}",
        }.items():
            body = self.get(path).json
            names = {row["name"]: row["price"] for row in body["data"]}
            assert body["total"] == len(names)
            found[name] = names.get("Mug")
            if "sort" in path:
                by_price = sorted((Decimal(price) for price in names.values()), reverse="desc" in path)
                assert [Decimal(price) for price in names.values()] == by_price, name
        changed = {row["name"]: row["price"] for row in self.api.get(f"/products?updated_since={since}").json()["data"]}
        found["record"] = self.price_of_record("/products/mug")
        found["copy"] = {row["name"]: row["price"] for row in self.copy.follow().records.values()}.get("Mug")
        found["filter"] = self.filtered(now)
        found["basket"] = self.added()
        found |= {} if now < DATE else {"changed": changed.get("Mug")}
        return found

    @property
    def mug(self) -> Product:
        return Product.objects.get(shop=self.shop, slug="mug")

    def price_of_record(self, path: str) -> str | None:
        answer = self.get(path)
        return answer.json["data"]["price"] if answer.status_code == 200 else None

    def filtered(self, now) -> str | None:
        facets = facets_of(self.shop, ProductFilters(q="mug"), Chosen(), now=now)
        if facets.prices is None:
            return None
        assert facets.on_sale == (facets.prices[0] == 800)
        exact = facets_of(self.shop, ProductFilters(q="mug"), Chosen(least=facets.prices[0]), now=now)
        assert exact.total == facets.total == 1
        return f"{facets.prices[0] / 100:.2f}"

    def added(self) -> str | None:
        answer = self.api.post("/cart", {"product_id": self.mug.pk, "qty": 1})
        return answer.json()["data"]["price_snapshot"] if answer.status_code < 300 else None

    def shown(self) -> dict[str, bool]:
        """Whether the mug is to be had, where no price is said."""
        categories = self.get("/categories").json["data"]
        assert self.get("/categories/cups").json["data"] == categories[0]
        return {
            "count": categories[0]["products_count"] == 2,
            "spelling": self.get("/products?q=muug").json["did_you_mean"] == "mug",
            "sitemap": b"/products/mug" in self.visitor.get("/sitemap-1.xml").content,
            "suggestions": b"/products/mug" in self.visitor.get("/search/suggestions?q=mug").content,
        }

    def pages(self, price: str | None) -> None:
        page = self.visitor.get("/products/mug")
        assert page.status_code == (200 if price else 404)
        listed = self.visitor.get("/categories/cups").content.decode()
        assert ("/products/mug" in listed) == (price is not None)
        for text in [page.content.decode(), listed] if price else []:
            assert f"€{price}" in text
            assert ("€8.00" in text) == (price == "8.00")
        if price:
            assert f'"price": "{price}"' in page.content.decode()

    def agrees(self, price: str | None, now, since: str) -> None:
        found = self.prices(now, since)
        assert found == dict.fromkeys(found, price)
        found_shown = self.shown()
        assert found_shown == dict.fromkeys(found_shown, price is not None)
        self.pages(price)
        if price:
            assert self.app.get(f"/products/{self.mug.pk}").json()["product"]["price"] == price
            assert self.copy_of_app.follow().records[self.mug.pk]["price"] == price


def fill(shop, **given) -> None:
    cups = make_category(shop, "Cups")
    values = {"price": Decimal("10.00"), "description": "Stoneware."} | given
    make_product(shop, "Mug", categories=(cups,), published_on=given.get("publish_at", NOW), **values)
    make_public(shop, "Cup", categories=(cups,), price=Decimal("9.00"), description="Stoneware.")


@pytest.fixture
def elsewhere(other_shop) -> Reader:
    """A shop whose products have no dates."""
    fill(other_shop)
    return Reader(other_shop)


@pytest.mark.slow
@pytest.mark.rule("R-CAT-2", "R-CAT-41")
@pytest.mark.parametrize("is_new_process", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_changes_at_the_date(shop, elsewhere, kind, is_new_process):
    given, before, after = KINDS[kind]
    with time_machine.travel(DATE - timedelta(hours=1), tick=False):
        fill(shop, **given)
        reader = Reader(shop)
    since = timestamp(DATE - INSTANT)
    with time_machine.travel(DATE - INSTANT, tick=False):
        for _ in range(2):
            reader.agrees(before, DATE - INSTANT, since)
        etag = reader.get("/products").headers["ETag"]
        elsewhere.get("/products")
        # While the worker has yet to write something, nothing says for how long a list holds.
        assert reader.edge.is_hit("/products", reader.token) == ("no worker" not in kind)
        assert elsewhere.edge.is_hit("/products", elsewhere.token)
    if is_new_process:
        clear_caches()
    with time_machine.travel(DATE, tick=False):
        assert reader.edge.ask("/products", reader.token, If_None_Match=etag).status_code == 200
        for _ in range(2):
            reader.agrees(after, DATE, since)
        assert elsewhere.edge.is_hit("/products", elsewhere.token)
        # The worker, late, changes nothing but that programs hear of it, once.
        Event.objects.all().delete()
        turned = 0
        while found := turn_due(now=DATE + INSTANT, limit=9) + emit_scheduled_changes(now=DATE + INSTANT, limit=9):
            turned += found
        assert turned >= 1
        reader.agrees(after, DATE, since)
        assert turn_due(now=DATE + INSTANT, limit=9) == 0
    if "no worker" not in kind:
        assert [event.data["name"] for event in Event.objects.filter(topic="product.updated")] == ["Mug"]
        assert AuditEntry.objects.filter(action="product.updated").count() == ("sale" in kind)


@pytest.mark.slow
@pytest.mark.rule("R-CAT-41")
def test_variants_and_pre_orders_change_at_their_dates(shop, other_shop):
    scarf = make_public(shop, "Scarf", type="variable", price=Decimal("0.00"))
    blue = make_variant(scarf, "Blue", price=Decimal("10.00"), **SALE, sale_from=DATE)
    book = make_public(shop, "Book", is_preorder=True, available_from=DATE)
    reader = Reader(shop)

    def read(now) -> tuple:
        with time_machine.travel(now, tick=False):
            record = reader.get("/products/scarf").json["data"]["variants"][0]
            line = reader.api.post("/cart", {"product_id": scarf.pk, "variant_id": blue.pk, "qty": 1}).json()["data"]
            changed = reader.api.get(f"/products?updated_since={timestamp(DATE)}").json()["data"]
            facets = facets_of(shop, ProductFilters(q="scarf"), Chosen(), now=now)
            page = reader.visitor.get("/products/scarf").content.decode()
            listed = reader.visitor.get("/products").content.decode()
            assert ("€8.00" in page, "€8.00" in listed) == (record["price"] == "8.00",) * 2
            assert facets.prices == (int(Decimal(record["price"]) * 100),) * 2
            assert line["price_snapshot"] == record["price"]
            rows = {row["name"]: row["is_preorder"] for row in reader.get("/products").json["data"]}
            assert reader.get("/products/book").json["data"]["is_preorder"] == rows["Book"]
            assert reader.copy.follow().records[book.pk]["is_preorder"] == rows["Book"]
            chosen = reader.get("/products?fields=variants&q=scarf").json["data"]
            assert chosen[0]["variants"][0]["price"] == record["price"]
            return record["price"], rows["Book"], {row["name"] for row in changed}

    assert read(DATE - INSTANT) == read(DATE - INSTANT) == ("10.00", True, set())
    assert read(DATE) == read(DATE) == ("8.00", False, {"Scarf", "Book"})
    while turn_due(now=DATE, limit=9):
        pass
    assert read(DATE) == ("8.00", False, {"Scarf", "Book"})
    assert Variant.objects.get().price == Decimal("8.00")


def test_an_unlisted_product_leaves_the_cache_when_it_is_unpublished(shop):
    make_product(shop, "Mug", exclude_from_catalog=True, unpublish_at=DATE)
    edge, token = EdgeClient(), make_token(shop)
    with time_machine.travel(DATE - INSTANT, tick=False):
        assert edge.ask("/products/mug", token).status_code == 200
        assert edge.is_hit("/products/mug", token)
    with time_machine.travel(DATE, tick=False):
        assert edge.ask("/products/mug", token).status_code == 404


def test_lists_are_sorted_by_their_index_once_the_worker_has_written_a_sale(shop):
    fill(shop, **SALE, sale_from=DATE)
    api, cheapest = ApiClient(make_token(shop)), "/products?sort=price_asc"

    def sorts() -> bool:
        with time_machine.travel(DATE, tick=False), CaptureQueriesContext(connection) as asked:
            assert api.get(cheapest).json()["data"][0]["price"] == "8.00"
        return any("ORDER BY (CASE" in query["sql"] for query in asked)

    assert sorts()
    while turn_due(now=DATE, limit=9):
        pass
    assert not sorts()
