"""Places orders the whole way, and runs the worker's part of each: a cart by the API, its link, the checkout, a card
payment, mails, events and their deliveries.

    DATABASE_URL=postgres://... python -m benchmarks.orders ORDERS [--list]

Prints what an order cost the database as JSON, or with --list each statement of the last order. Everything runs in this
process and in one connection, so that every statement is counted; only the HTTP calls to receivers are left out, which
need none.
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import django

from benchmarks import indexes, wal

DOMAIN = "orders.example.com"
SCOPES = ("read_products", "read_cart", "write_cart")
TOPICS = ("order.placed", "order.paid", "product.updated")
ADDRESS = {
    "name": "Ada Lovelace",
    "line1": "1 Example Street",
    "city": "Berlin",
    "postal_code": "10115",
    "country": "DE",
}
DETAILS = {"phone": "", "same": "on", **{f"shipping-{name}": value for name, value in ADDRESS.items()}}
CARD = {"method": "demo", "note": "", "number": "4242 4242 4242 4242", "expiry": "12/34", "cvc": "123"}
PRODUCTS = 10
# Orders before those that are measured: caches are filled, each table has a page of its own with room in it.
WARM_ORDERS = 5
# Without those of partitions, of which an order writes to one.
SHOP_KEYS = (
    "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND confrelid = 'shops_shop'::regclass"
)
TABLES = "SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables"


@dataclass
class Counted:
    """The statements of each part of an order."""

    parts: Counter[str] = field(default_factory=Counter)
    statements: list[str] = field(default_factory=list)
    part: str = ""

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        self.parts[self.part] += 1
        self.statements.append(f"{self.part}: {sql}")
        return execute(sql, params, many, context)


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    django.setup()
    from django.db import connection
    from django.test.utils import override_settings

    orders, counted = int(arguments[0]), Counted()
    # Pages need no collected files here, and mails go nowhere.
    storages = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    settings = {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend", "ALLOWED_HOSTS": ["*"]}
    from django.conf import settings as configured

    with override_settings(STORAGES={**configured.STORAGES, **storages}, **settings):
        way = Way()
        for number in range(WARM_ORDERS):
            way.order(number, counted)
        counted.parts.clear()
        with measured(connection) as cost, connection.execute_wrapper(counted):
            for number in range(WARM_ORDERS, WARM_ORDERS + orders):
                counted.statements.clear()
                way.order(number, counted)
    if "--list" in arguments:
        print("\n".join(re.sub(r"\s+", " ", statement) for statement in counted.statements))
    else:
        print(json.dumps(report(cost, counted, orders)))


@contextmanager
def measured(connection: Any) -> Iterator[dict[str, Any]]:
    """Fills in what the block wrote: records of the log, and updates by table."""
    cost: dict[str, Any] = {}
    before, holder = updates(connection), connection.copy()
    try:
        with holder.cursor() as cursor:
            cursor.execute(wal.EXTENSION)
            cursor.execute(wal.HOLD)
            begin = wal.position(cursor)
        yield cost
        after = updates(connection)
        cost["updates"] = {
            table: (count - before.get(table, (0, 0))[0], hot - before.get(table, (0, 0))[1])
            for table, (count, hot) in after.items()
        }
        with holder.cursor() as cursor:
            cost["written"] = wal.written(cursor, begin, wal.position(cursor))
            cost["indexes"] = indexes.index_count(cursor)
            cost["repeated"] = indexes.repeated_indexes(cursor)
            cursor.execute(SHOP_KEYS)
            cost["shop_keys"] = cursor.fetchone()[0]
    finally:
        holder.close()


def updates(connection: Any) -> dict[str, tuple[int, int]]:
    """Updates and HOT updates of each table so far."""
    # A connection reports what it did at the latest when it ends.
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return {table: (count, hot) for table, count, hot in cursor.fetchall()}


def report(cost: dict[str, Any], counted: Counted, orders: int) -> dict[str, Any]:
    written: list[wal.Written] = cost["written"]
    by_relation: Counter[str] = Counter()
    for each in written:
        by_relation[each.relation or each.kind] += each.bytes
    updated = {table: each for table, each in cost["updates"].items() if each[0]}
    return {
        "orders": orders,
        "statements": sum(counted.parts.values()) / orders,
        "parts": {part: round(count / orders, 1) for part, count in counted.parts.items()},
        "wal": sum(each.bytes for each in written) / orders,
        "wal_of_indexes": sum(each.bytes for each in written if each.is_index) / orders,
        "relations": {name: round(size / orders) for name, size in by_relation.most_common(400)},
        "commits": sum(each.records for each in written if each.kind == "Transaction COMMIT") / orders,
        "shop_locks": locks(written, "shops_shop") / orders,
        "locks": sum(each.records for each in written if each.kind == "Heap LOCK") / orders,
        "hot": sum(hot for _, hot in updated.values()) / max(sum(count for count, _ in updated.values()), 1),
        "updates": updated,
        "indexes": cost["indexes"],
        "repeated_indexes": cost["repeated"],
        "shop_keys": cost["shop_keys"],
    }


def locks(written: list[wal.Written], table: str) -> int:
    return sum(each.records for each in written if each.relation == table and each.kind == "Heap LOCK")


class Way:
    """A demo shop with products, an app with webhooks, and the way to an order in it."""

    def __init__(self) -> None:
        from storefront.catalogue.actions import create_product
        from storefront.kit import clock
        from storefront.staff import actions

        now = clock.now()
        url = f"https://{DOMAIN}"
        methods: dict[str, Any] = {"payment_methods": ("manual", "demo"), "is_demo": True}
        self.shop = actions.create_shop(domain=DOMAIN, name="Orders", base_url=url, now=now, **methods)
        self.token = actions.create_api_token(shop=self.shop, scopes=list(SCOPES), name="bench", now=now)[1]
        stock: dict[str, Any] = {"price": "9.50", "status": "active", "track_inventory": True, "stock_qty": 100_000}
        self.products = [
            create_product(shop=self.shop, now=now, name=f"Mug {number}", sku=f"M{number}", **stock)
            for number in range(PRODUCTS)
        ]
        self._install_app()

    def _install_app(self) -> None:
        from storefront.apps.actions import install_app, register_app
        from storefront.kit import clock
        from storefront.webhooks.actions import register_webhook
        from storefront.webhooks.models import Delivery

        now, scopes, url = clock.now(), ["read_orders", "read_products"], "https://app.example.com/"
        app, _ = register_app(name="App", slug="app", install_url=url, scopes=scopes, now=now)
        installation, _ = install_app(shop=self.shop, app=app, scopes=scopes, now=now)
        Delivery.objects.all().delete()
        for topic in TOPICS:
            register_webhook(shop=self.shop, installation_id=installation.pk, topic=topic, address=url, now=now)

    def order(self, number: int, counted: Counted) -> None:
        """One shopper with an own browser and address buys two products, and the worker does its part."""
        from django.test import Client

        browser = Client(headers={"host": DOMAIN}, REMOTE_ADDR=f"10.0.{number // 250}.{number % 250 + 1}")
        api = {"Authorization": f"Bearer {self.token}"}
        counted.part = "cart"
        cart = ""
        for place in (number, number + 1):
            body = {"product_id": self.products[place % PRODUCTS].pk, "qty": 1}
            headers = api | ({"X-Cart-Token": cart} if cart else {}) | {"Idempotency-Key": f"order-{number}-{place}"}
            cart = browser.post("/api/v1/cart", body, "application/json", headers=headers).json()["cart_token"]
        counted.part = "link"
        headers = api | {"X-Cart-Token": cart}
        link = browser.post("/api/v1/cart/checkout", {}, "application/json", headers=headers).json()["checkout_url"]
        path, _, query = link.removeprefix(self.shop.base_url).partition("?")
        answer = browser.get(path, QUERY_STRING=query)
        counted.part = "checkout"
        browser.get(answer["Location"])
        answer = browser.post("/checkout", DETAILS | {"email": f"shopper-{number}@example.com"})
        browser.get(answer["Location"])
        answer = browser.post("/checkout/delivery", {"delivery": "-"})
        page = browser.get(answer["Location"]).content.decode()
        counted.part = "payment"
        hidden = {name: hidden_value(page, name) for name in ("checkout", "shown")}
        answer = browser.post("/checkout/payment", CARD | hidden)
        confirmed = browser.get(answer["Location"])
        if not re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", answer["Location"]) or confirmed.status_code != 200:
            raise SystemExit(f"No order at {answer['Location']}: {confirmed.content[:2000]!r}")
        counted.part = "worker"
        work()


def work() -> None:
    """The worker's part: queued tasks, and each event's deliveries."""
    from storefront.kit import clock
    from storefront.server.worker.tasks import Tasks
    from storefront.webhooks import claiming
    from storefront.webhooks.dispatch import dispatch
    from storefront.webhooks.recording import Outcome, record_outcomes

    Tasks().run()
    while dispatch(clock.now()):
        pass
    while receivers := claiming.due_receivers(clock.now())[0]:
        messages = claiming.claim(dict.fromkeys(receivers, 10), lease="bench", now=clock.now())
        outcomes = [Outcome(message, started_at=clock.now(), seconds=0.01, status=200) for message in messages]
        record_outcomes(outcomes, lease="bench", now=clock.now())


def hidden_value(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    if not found:
        raise SystemExit(f"No {name} in {page}")
    return unescape(found[1])


if __name__ == "__main__":
    main(sys.argv[1:])
