"""Every address that a shop takes can be erased whole, and no other address with it."""

import json

import pytest
from django_tasks_db.models import DBTaskResult

from storefront.content.jobs import send_message
from storefront.customers.jobs import send_password_link
from storefront.gift_cards.jobs import queue_due_cards
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.orders.models import Order
from storefront.privacy import actions
from storefront.privacy.models import DataRequest
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import SavedView, Shop
from storefront.stock_alerts.models import StockAlert
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.privacy.lives import dump, rows_of, sold

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

UNUSUAL = (
    *("ada@localhost", '"ada@home"@example.com', "ada@[::1]", "o'ada+x@example.com", "100%_ada@example.com"),
    "ada@bücher.example",
)


def leave(shop: Shop, email: str) -> None:
    """An account, an order, and mails that wait."""
    now, ada = clock.now(), make_customer(shop, email)
    order = sold(shop, email, customer_id=ada.pk)
    queue_due_cards(now=clock.now(), limit=10)
    StockAlert.objects.create(shop=shop, product=order.lines.first().product, email=email, created_at=now)
    actions.open_request(shop=shop, email=email, now=now)
    SavedView.objects.create(shop=shop, list="orders.order", name=f"Of {email}", query="q=x", created_at=now)
    send_password_link.enqueue(shop.pk, email, "reset")
    send_message.enqueue(shop.pk, "Ada", email, "When do you open?")


def tables_with(email: str) -> list[str]:
    forms = {email, json.dumps(email)[1:-1], json.dumps(email, ensure_ascii=False)[1:-1]}
    return [table for table, text in dump().items() if any(form in text for form in forms)]


@pytest.mark.parametrize("email", UNUSUAL)
def test_an_unusual_address_is_erased_whole(shop, email):
    leave(shop, email)
    assert tables_with(email)
    request = actions.erase_now(shop=shop, email=email, now=clock.now())
    assert request.state == DataRequest.State.ERASED
    assert Order.objects.get().erased_at
    assert tables_with(email) == []


@pytest.mark.parametrize("near", ["xada@example.co", "ada@example.com", "ada@example.co.uk", "da_@example.co"])
def test_an_address_that_is_like_it_loses_nothing(shop, other_shop, near):
    sold(shop, "ada@example.co")
    queue_due_cards(now=clock.now(), limit=10)
    leave(shop, near)
    leave(other_shop, "ada@example.co")
    before = rows_of(other_shop)
    actions.erase_now(shop=shop, email="ada@example.co", now=clock.now())
    assert rows_of(other_shop) == before
    assert SavedView.objects.get(shop=shop).name == f"Of {near}"
    assert StockAlert.objects.get(shop=shop).email == near
    for name in (near, "ada@example.co"):
        waiting = DBTaskResult.objects.exclude(status="SUCCESSFUL").values_list("args_kwargs", flat=True)
        assert len([each for each in waiting if name in each["args"]]) == 2
    assert Order.objects.get(shop=shop, erased_at=None).email == near
    assert AuditEntry.objects.get(shop=shop, action="data_request.created", after__email=near)


def test_an_address_that_is_too_long_is_refused(shop):
    email = f"ada@{'a.' * 125}example.com"
    with pytest.raises(InvalidFields) as refused:
        actions.open_request(shop=shop, email=email, now=clock.now())
    assert list(refused.value.errors) == ["email"]


def test_a_view_whose_name_has_the_address_with_a_plus_is_deleted(shop):
    email, mug = "ada+shop@example.com", make_product(shop, "Mug")
    for name, query in ((f"Of {email}", "o=1"), ("Hers", "q=ada%2Bshop%40example.com"), (mug.name, "q=mug")):
        SavedView.objects.create(shop=shop, list="orders.order", name=name, query=query, created_at=clock.now())
    actions.erase_now(shop=shop, email=email, now=clock.now())
    assert [view.name for view in SavedView.objects.all()] == ["Mug"]
