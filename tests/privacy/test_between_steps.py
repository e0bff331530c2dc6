"""What is made between the steps of an erasure: what is new stays, and no file of the person is left."""

from decimal import Decimal

import pytest
from django.core.files.storage import storages
from django_tasks_db.models import DBTaskResult

from storefront.customers.jobs import send_password_link
from storefront.customers.models import Customer
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.privacy import actions, erasing, jobs
from storefront.privacy.erasing import erase
from storefront.privacy.models import DataRequest
from storefront.stock_alerts.models import StockAlert
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.privacy.lives import EMAIL, live, traces
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def begun(shop) -> DataRequest:
    """An erasure that stopped after its first order."""
    request = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    row = DataRequest.objects.select_related("shop").get(pk=request.pk)
    with pytest.raises(KeyboardInterrupt):
        erase(row, now=clock.now(), beat=_killed)
    return row


def _killed() -> None:
    raise KeyboardInterrupt


def test_what_the_person_begins_anew_stays_whole(shop):
    live(shop)
    row = begun(shop)
    now = clock.now()
    make_customer(shop, EMAIL)
    card = issue_card(shop=shop, value=Decimal(7), email=EMAIL, message="Again", now=now)
    StockAlert.objects.create(shop=shop, product=make_product(shop, "Late"), email=EMAIL, created_at=now)
    mail = send_password_link.enqueue(shop.pk, EMAIL, "reset")
    erase(row, now=now)
    card.refresh_from_db()
    assert (card.email, card.message, card.send_at) == (EMAIL, "Again", now)
    assert GiftCard.objects.filter(email=EMAIL).count() == StockAlert.objects.filter(email=EMAIL).count() == 1
    assert Customer.objects.get().email == EMAIL
    assert DBTaskResult.objects.filter(pk=mail.id).exists()


def test_an_export_made_while_the_erasure_stood_still_is_deleted_with_it(shop):
    live(shop)
    row = begun(shop)
    jobs.stop(row, jobs.BROKE_ERASURE)
    actions.start_export(shop=shop, request=row, now=clock.now())
    run_due_tasks()
    row.refresh_from_db()
    name = row.file.name
    assert storages["private"].exists(name)
    actions.start_erasure(shop=shop, request=row, now=clock.now())
    run_due_tasks()
    row.refresh_from_db()
    assert (row.state, row.file.name, row.size) == ("erased", "", 0)
    assert not storages["private"].exists(name)


def test_an_export_that_ends_after_the_person_was_erased_leaves_no_file(shop, monkeypatch):
    """Its worker was silent for so long that it was given up, and there was an earlier file."""
    live(shop)
    row = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    actions.start_export(shop=shop, request=row, now=clock.now())
    run_due_tasks()
    actions.start_export(shop=shop, request=row, now=clock.now())
    write = jobs.write_export

    def wakes_late(*given):
        written = write(*given)
        DataRequest.objects.update(state=DataRequest.State.OPEN)
        actions.erase_now(shop=shop, email=EMAIL, now=clock.now())
        return written

    monkeypatch.setattr(jobs, "write_export", wakes_late)
    jobs.run_export.func(row.shop_id, row.pk)
    row.refresh_from_db()
    assert (row.state, row.file.name) == ("erased", "")
    assert not storages["private"].exists(f"privacy/{shop.pk}-{row.pk}.zip")


def test_a_worker_that_comes_late_begins_nothing_anew(shop):
    live(shop)
    row = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    late = DataRequest.objects.select_related("shop").get(pk=row.pk)
    actions.erase_now(shop=shop, email=EMAIL, now=clock.now())
    again = make_customer(shop, EMAIL)
    erase(late, now=clock.now())
    assert Customer.objects.get() == again
    row.refresh_from_db()
    assert (row.state, row.plan) == ("erased", None)


@pytest.mark.parametrize(
    "step",
    [
        "_forget_methods",
        "_close_account",
        "_erase_order",
        "erase_cards",
        "_delete_tasks",
        "erase_events",
        "erase_person",
    ],
)
@pytest.mark.parametrize("is_done", [False, True])
def test_an_erasure_killed_at_any_step_ends_as_one_that_was_not(shop, monkeypatch, step, is_done):
    live(shop)
    request = actions.open_request(shop=shop, email=EMAIL, now=clock.now())
    actions.start_erasure(shop=shop, request=request, now=clock.now())
    carry_out = getattr(erasing, step)

    def killed(*given, **named):
        if is_done:
            carry_out(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(erasing, step, killed)
        with pytest.raises(KeyboardInterrupt):
            jobs.run_erasure.func(request.shop_id, request.pk)
    run_due_tasks()
    request.refresh_from_db()
    assert (request.state, request.plan, request.erased["orders"], request.reason) == ("erased", None, 2, "")
    assert traces(without=("documents_document",)) == set()
    assert Event.objects.filter(topic="customer.erased").count() == 1
