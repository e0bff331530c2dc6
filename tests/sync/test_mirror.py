"""A client that keeps copies of all lists while others write ends with exactly the shop's content; and a write that
commits late is not missed."""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random

import pytest
from django.db import connection, connections, transaction

from storefront.catalogue import actions
from storefront.catalogue.inventory import actions as inventory_actions
from storefront.catalogue.inventory.actions import Author
from storefront.catalogue.models import Product, Variant
from storefront.customers.models import Customer
from storefront.kit import clock
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.shops.models import ApiToken, Shop
from tests.catalogue.factories import make_public, make_variant
from tests.client import ApiClient
from tests.customers.factories import add_address, make_customer
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import make_token
from tests.sync.copying import Copy

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SCOPES = ("read_products", "read_inventory", "read_orders", "read_customers")
WRITES, WRITERS = 40, 3


def copies_of(shop: Shop) -> list[Copy]:
    api, app = ApiClient(make_token(shop, *SCOPES)), install(shop, *SCOPES).api
    # They ask as fast as they can.
    ApiToken.objects.filter(shop=shop).update(requests_per_minute=None)
    return [
        Copy(api, "/products", include="variants", per_page=3),
        Copy(api, "/inventory", per_page=2),
        Copy(api, "/orders", include="lines,payments", per_page=2),
        Copy(api, "/customers", include="addresses", per_page=2),
        Copy(app, "/products", "products", include="variants"),
        Copy(app, "/inventory", "inventory"),
        Copy(app, "/orders", "orders", include="fulfilments"),
        Copy(app, "/customers", "customers"),
    ]


def content(copy: Copy) -> dict:
    """What the list has, read anew."""
    return Copy(copy.api, copy.path, copy.name, **copy.parameters).follow().records


def write(shop: Shop, chance: Random, seed: int, number: int) -> None:
    now = clock.now()
    products = Product.objects.filter(shop=shop, deleted_at=None).order_by("pk")
    # The writers may have deleted them all.
    product = chance.choice(products or [make_public(shop, f"Again {seed} {number}")])
    order = chance.choice(Order.objects.filter(shop=shop).order_by("pk"))
    # Not one that another writer may be about to delete.
    customer = chance.choice(Customer.objects.filter(shop=shop, email="ada@example.com"))
    match chance.randrange(10):
        case 0:
            with transaction.atomic():
                made = make_public(shop, f"Made {seed} {number}")
                if number % 2:
                    make_variant(made)
        case 1:
            actions.delete_product(shop=shop, product=product, now=now)
        case 2:
            status = chance.choice(["active", "draft", "archived"])
            actions.set_status(shop=shop, products=Product.objects.filter(pk=product.pk), status=status, now=now)
        case 3:
            # Two statements, so that other transactions begin and end between them.
            with transaction.atomic():
                actions.update_product(shop=shop, product=product, now=now, name=f"Renamed {seed} {number}")
                actions.update_product(shop=shop, product=product, now=now, sku=f"S{seed}-{number}")
        case 4:
            adjust_some(shop, product, chance, now)
        case 5:
            make_order(shop, sale_line(product), customer_id=customer.pk, now=now)
        case 6:
            payments.mark_paid(shop=shop, order=order, now=now)
        case 7:
            payments.cancel_order(shop=shop, order=order, now=now)
        case 8:
            add_address(customer, city=f"Town {number}")
        case _:
            made_customer = make_customer(shop, f"{seed}-{number}@example.com", password="")
            if chance.random() < 0.5:
                made_customer.delete()


def adjust_some(shop: Shop, product: Product, chance: Random, now) -> None:
    variant = Variant.objects.filter(shop=shop, product=product).first()
    inventory_actions.adjust_stock(
        shop=shop,
        product_id=product.pk,
        variant_id=variant.pk if variant else None,
        to=chance.randrange(100),
        reason="Counted",
        author=Author(token=ApiToken.objects.filter(shop=shop).first()),
        now=now,
    )


def run_all(*works: Callable[[], None]) -> list[Exception]:
    """Run these at the same time, each with its own connection. Returns what they raised."""
    failures: list[Exception] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


@pytest.fixture
def cast(shop, other_shop) -> None:
    for owner in (shop, other_shop):
        for n in range(7):
            make_public(owner, f"Mug {n}")
        make_variant(make_public(owner, "Shirt"))
        make_order(owner, sale_line(Product.objects.filter(shop=owner)[0]))
        make_customer(owner, password="")


@pytest.mark.rule("R-SYNC-4", "R-SYNC-5")
def test_copies_made_while_others_write_equal_the_shop(shop, other_shop, cast):
    copies, writers = copies_of(shop), threading.Semaphore(0)
    owners = [*[shop] * WRITERS, other_shop]

    def writer(seed: int) -> None:
        chance, own = Random(seed), Shop.objects.get(pk=owners[seed].pk)
        try:
            for number in range(WRITES):
                with suppress(Refusal):  # another writer was first
                    write(own, chance, seed, number)
        finally:
            writers.release()

    def reader() -> None:
        ended = 0
        while ended < len(owners):
            ended += writers.acquire(blocking=False)
            for copy in copies:
                copy.step()

    assert run_all(reader, *(partial(writer, seed) for seed in range(len(owners)))) == []
    for copy in copies:
        assert copy.follow().records == content(copy)
    emails = Customer.objects.filter(shop=shop).values_list("email", flat=True)
    assert {record["email"] for record in copies[3].records.values()} == set(emails)


@pytest.mark.rule("R-SYNC-5")
def test_a_write_that_commits_late_is_not_missed(shop, api):
    """The first writer begins first and ends last; the second's change has the later number and is read before."""
    early, late = make_public(shop, "Early"), make_public(shop, "Late")
    copy = Copy(api, "/products").follow()
    written, may_commit = threading.Event(), threading.Event()

    def first_writer() -> None:
        try:
            with transaction.atomic():
                actions.update_product(shop=shop, product=late, now=clock.now(), name="Late, changed")
                written.set()
                assert may_commit.wait(30)
        finally:
            connections.close_all()

    thread = threading.Thread(target=first_writer)
    thread.start()
    assert written.wait(30)
    if connection.vendor == "postgresql":
        # SQLite has one writer at a time.
        actions.update_product(shop=shop, product=early, now=clock.now(), name="Early, changed")
    seen = [record["name"] for record in copy.step()["data"]]
    may_commit.set()
    thread.join()
    if connection.vendor == "sqlite":
        actions.update_product(shop=shop, product=early, now=clock.now(), name="Early, changed")
    seen += [record["name"] for record in copy.step()["data"]]
    assert sorted(seen) == ["Early, changed", "Late, changed"]
    assert copy.follow().records == content(copy)
