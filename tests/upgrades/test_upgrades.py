"""Databases of earlier releases are migrated to the current schema, and no data is lost."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from storefront.kit.money_field import MoneyField
from storefront.webhooks.rules import receiver_of
from tests.server.programs import STOREFRONT, storefront
from tests.upgrades.databases import RELEASES, Database, Rows, database_of

pytestmark = pytest.mark.slow

KEYS = dict.fromkeys(("0.1.0", "2026-11-26"), "upgrade-test-key-of-release-0.1.0")
# Tables with money, and its columns: decimals became hundredths.
MONEY = {
    (model._meta.db_table, field.column)
    for model in apps.get_models()
    for field in model._meta.concrete_fields
    if isinstance(field, MoneyField)
}

# What `migrate` itself writes down, or makes anew.
BOOKKEEPING = {"django_migrations", "django_content_type", "auth_permission"}

# What migrations write again: the text that searches find.
DERIVED = {
    ("catalogue_productsearch", "text"),
    # What the card's log adds up to, for which there is a test.
    ("gift_cards_giftcard", "balance"),
}
# Tables whose rows are made anew when triggers change, and the columns that stay.
REBUILT: dict[str, tuple[str, ...]] = {
    "catalogue_listingtotal": ("shop_id", "category", "products"),
    # Changes whose words are still to be counted: then all words are.
    "catalogue_textchange": (),
}

# By table and column, what migrations make of a value on purpose.
CHANGED: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("shops_staffmember", "role"): lambda role: "manager" if role == "staff" else role,
}
# The same where it depends on other columns of the row.
CHANGED_BY_ROW: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("webhooks_registration", "receiver"): lambda row: receiver_of(row["installation_id"], row["address"]),
    ("webhooks_delivery", "receiver"): lambda row: (
        receiver_of(row["installation_id"], row["address"]) if row["status"] in ("pending", "held") else row["receiver"]
    ),
}

# Every stored secret can be read again, and every model's table has the columns that the code asks for.
LOOK = """
import json
from django.apps import apps
from storefront.installations.models import App, Installation
from storefront.kit import clock
rows = {model._meta.label: len(list(model.objects.all())) for model in apps.get_models()}
secrets = [app.secret for app in App.objects.all()]
secrets += [secret for row in Installation.objects.all() for secret in row.signing_secrets(clock.now())]
print(json.dumps({"rows": rows, "secrets": secrets}))
"""


@pytest.fixture(params=RELEASES, scope="module")
def release(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def upgraded(release, tmp_path_factory):
    """The release's rows as they were, and the database after `storefront migrate`, which the tests leave as it is."""
    with database_of(release, tmp_path_factory.mktemp("upgraded")) as database:
        before = database.rows()
        database.environment["SECRET_KEY"] = KEYS[release]
        run(database, "migrate", "--verbosity=0")
        yield before, database


def run(database: Database, *arguments: str) -> str:
    result = storefront(*arguments, **database.environment)
    assert result.returncode == 0, f"{STOREFRONT} {arguments}: {result.stderr}"
    return result.stdout


def test_the_kept_database_has_a_row_of_every_table(tmp_path):
    with database_of("0.1.0", tmp_path) as database:
        empty = [table for table, rows in database.rows().items() if not rows]
    # Marks that are there for the length of a transaction; and what counts changes on SQLite alone.
    assert set(empty) <= {"catalogue_quiet", "shops_change"}


def test_every_row_is_found_after_the_upgrade(upgraded):
    before, database = upgraded
    assert missing(before, database.rows()) == []


def test_the_upgraded_schema_is_that_of_a_new_database(upgraded, migrated):
    _, database = upgraded
    new = Database(Path(migrated["STOREFRONT_DATA_DIR"]), migrated.get("DATABASE_URL", ""))
    assert database.schema() ^ new.schema() == set()


def test_the_upgraded_database_can_be_read(upgraded):
    before, database = upgraded
    seen = json.loads(run(database, "shell", "--no-imports", "-c", LOOK))
    assert seen["rows"]["orders.Order"] == len(before["orders_order"]) >= 6
    # Two apps, installed, uninstalled and installed again; the last ones sign with two secrets.
    assert len(seen["secrets"]) >= 2 + 4
    assert all(secret.startswith("whsec_") for secret in seen["secrets"])


ATTRIBUTION = """
import json
from django.db.models import F
from storefront.checkout.models import Checkout
from storefront.orders.models import Order
from storefront.orders.queries import order_summary
from storefront.kit import clock
from storefront.checkout.jobs import report_abandoned_checkouts
names = ("client_reference", "metadata", "return_url", "cancel_url", "cart")
orders = [[order_summary(order)[name] for name in names] for order in Order.objects.all()]
open_checkouts = Checkout.objects.filter(order=None)
print(json.dumps({
    "orders": orders,
    "open": open_checkouts.count(),
    "marked": open_checkouts.filter(abandoned_at=F("updated_at")).count(),
    "reported": report_abandoned_checkouts(now=clock.now(), limit=100),
}))
"""


def test_orders_from_before_have_no_attribution_and_open_checkouts_are_not_reported(upgraded):
    before, database = upgraded
    seen = json.loads(run(database, "shell", "--no-imports", "-c", ATTRIBUTION))
    assert seen["orders"] == [[None, {}, None, None, None]] * len(before["orders_order"])
    left_open = [row for row in before["checkout_checkout"].values() if row["order_id"] is None]
    assert seen["open"] == seen["marked"] == len(left_open) > 0
    assert seen["reported"] == 0


BALANCES = """
import json
from storefront.gift_cards.models import GiftCard
from storefront.gift_cards.verifying import deviations
from storefront.shops.models import AuditEntry, Shop
entries = AuditEntry.objects.filter(action="gift_card.balance_corrected").order_by("object_id")
print(json.dumps({
    "balances": {card.pk: str(card.balance) for card in GiftCard.objects.all()},
    "deviations": [each for shop in Shop.objects.all() for each in deviations(shop)],
    "entries": {entry.object_id: [entry.shop_id, entry.before, entry.after] for entry in entries},
}))
"""


def test_balances_become_what_their_logs_add_up_to_and_the_audit_log_says_so(upgraded):
    before, database = upgraded
    seen = json.loads(run(database, "shell", "--no-imports", "-c", BALANCES))
    cards = before.get("gift_cards_giftcard", {}).values()
    sums = dict.fromkeys((row["id"] for row in cards), Decimal(0))
    for entry in before.get("gift_cards_giftcardentry", {}).values():
        sums[entry["card_id"]] += Decimal(str(entry["amount"]))
    drifted = [row for row in cards if Decimal(str(row["balance"])) != sums[row["id"]]]
    # In both shops: one by a hundredth, and on SQLite one by a binary fraction.
    assert len(drifted) == (0 if not cards else 2 if database.url else 4)
    assert seen["balances"] == {str(card): f"{amount:.2f}" for card, amount in sums.items()}
    assert seen["deviations"] == []
    assert seen["entries"] == {
        str(row["id"]): [
            row["shop_id"],
            {"balance": str(row["balance"])},
            {"balance": f"{sums[row['id']]:.2f}"},
        ]
        for row in drifted
    }


PAYMENTS = """
import json
from django.contrib.contenttypes.models import ContentType
from storefront.payments.models import Payment, PaymentEntry
from storefront.payments.rules import STATUSES
payments = list(Payment.objects.all())
print(json.dumps({
    "keys": len({payment.key for payment in payments} | {payment.public_id for payment in payments}),
    "statuses": all(STATUSES[payment.state] == payment.status for payment in payments),
    "captured": {str(payment.pk): str(payment.captured) for payment in payments},
    "adds_up": all(
        sum(entry.amount for entry in payment.entries.all()) == payment.captured - payment.returned
        and payment.returned <= payment.refunded for payment in payments
    ),
    "types": list(ContentType.objects.filter(model__in=["payment", "refund"]).values_list("app_label", flat=True)),
}))
"""


def test_existing_payments_have_a_state_a_key_and_a_log_that_adds_up(upgraded):
    before, database = upgraded
    seen = json.loads(run(database, "shell", "--no-imports", "-c", PAYMENTS))
    rows = before["orders_payment"].values()
    assert seen["keys"] == 2 * len(rows) > 0
    assert seen["statuses"]
    assert seen["adds_up"]
    for row in rows:
        taken = float(row["amount"]) if row["status"] == "paid" else 0.0
        assert float(seen["captured"][str(row["id"])]) == taken
    assert seen["types"] == ["payments", "payments"]


def test_existing_products_are_found_by_the_texts_of_this_release(upgraded):
    before, database = upgraded
    listed = [row for row in before["catalogue_productsearch"].values() if row["listed"]]
    assert listed
    assert database.rows()["catalogue_searchword"]
    # As if every text had been written by this release.
    assert all(shop["texts"] == shop["listed"] == 0 for shop in json.loads(run(database, "reindex")))
    found = json.loads(run(database, "shell", "--no-imports", "-c", SEARCH))
    assert found == {"variants": True, "unknown": 0}


SEARCH = """
import json
from storefront.catalogue.models import Variant
from storefront.kit import clock
from storefront.listing.queries import ProductFilters, product_page, published_products
now = clock.now()
def total(shop, q):
    return product_page(shop, ProductFilters(q=q), page=1, per_page=1, now=now).total
sold = Variant.objects.filter(is_active=True).exclude(sku="").select_related("shop", "product")
public = [row for row in sold if row.product.is_published(now) and not row.product.exclude_from_catalog]
print(json.dumps({
    "variants": bool(public) and all(total(row.shop, row.sku) > 0 for row in public),
    "unknown": total(public[0].shop, "zzyzx"),
}))
"""


def columns_of(table: str, rows: Rows) -> set[tuple]:
    return {tuple(row[column] for column in REBUILT[table]) for row in rows[table].values()}


def missing(before: Rows, after: Rows) -> list[str]:
    """What the upgrade lost: rows, and values of columns that both schemas have, except intended changes."""
    lost = []
    for table, rows in before.items():
        if table in BOOKKEEPING:
            continue
        if table in REBUILT:
            lost += [f"{table} {row} is gone" for row in columns_of(table, before) - columns_of(table, after) if row]
            continue
        for key, row in rows.items():
            now = after.get(table, {}).get(key)
            if now is None:
                lost.append(f"{table} {key} is gone")
                continue
            lost += [
                f"{table} {key} {column}: {value!r} became {now[column]!r}"
                for column, value in row.items()
                if column in now and (table, column) not in DERIVED and now[column] != expected(table, column, row)
            ]
    return lost


def expected(table: str, column: str, row: dict[str, Any]) -> Any:
    if (table, column) in CHANGED_BY_ROW:
        return CHANGED_BY_ROW[table, column](row)
    if (table, column) in MONEY:
        return None if row[column] is None else round(Decimal(str(row[column])) * 100)
    return CHANGED.get((table, column), lambda value: value)(row[column])
