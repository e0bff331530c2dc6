"""The print queue: papers as one PDF, marked as printed with who and when."""

from functools import partial

import pytest

from storefront.orders.models import Order
from storefront.shops.models import StaffMember
from tests.audit.entries import entries
from tests.documents.factories import paid_order, texts_of, work
from tests.races import run_concurrently
from tests.staff import admin_url, make_staff, open_desk

QUEUE = "/admin/orders/order/print-queue.pdf/"


def listed(desk) -> str:
    return desk.get(admin_url(Order, "changelist") + "?view=to_print").content.decode()


def test_the_queue_prints_slip_and_invoice_of_each_order_once(desk, shop, other_shop, seller):
    orders = [paid_order(shop), paid_order(shop)]
    work()
    unpaid = paid_order(shop)
    theirs = paid_order(other_shop)
    assert "Print packing slips and invoices?" in desk.get(QUEUE).content.decode()
    assert not Order.objects.exclude(printed_at=None).exists()
    pages = texts_of(desk.post(QUEUE).content)
    assert ["Packing slip" in page for page in pages] == [True, False, True, False, True]
    assert ["Invoice 2026" in page for page in pages] == [False, True, False, True, False]
    for order in (*orders, unpaid):
        order.refresh_from_db()
        assert (order.printed_by, order.printed_at is not None) == ("anna@example.com", True)
        assert f"#{order.number}" not in listed(desk)
    theirs.refresh_from_db()
    assert theirs.printed_at is None
    printed = [(entry.object_id, entry.actor_name) for entry in entries(shop, action="order.printed")]
    assert sorted(printed) == [(order.pk, "anna@example.com") for order in (*orders, unpaid)]
    assert "There is nothing to print." in desk.post(QUEUE, follow=True).content.decode()
    happened = [(each["text"], each["who"]) for each in desk.page(unpaid).context_data["happened"]]
    assert ("Packing slip and invoice printed", "anna@example.com") in happened


def test_a_second_person_is_told_who_printed_and_can_print_again(desk, shop):
    first, second = paid_order(shop), paid_order(shop)
    desk.choose(Order, "print_papers", first)
    ben = open_desk(make_staff(shop, "ben", "fulfilment"))
    answer = ben.choose(Order, "print_papers", first, second)
    assert f"{first}</a> was printed by anna@example.com" in answer.content.decode()
    second.refresh_from_db()
    assert second.printed_at is None
    assert len(texts_of(ben.choose(Order, "print_papers", *answer.context_data["again"], again="on").content)) == 2
    first.refresh_from_db()
    assert first.printed_by == "ben@example.com"
    assert open_desk(make_staff(shop, "carl", StaffMember.Role.READ_ONLY)).post(QUEUE).status_code == 403


@pytest.mark.strict
@pytest.mark.django_db(transaction=True)
def test_of_two_who_print_at_once_one_gets_the_papers(shop):
    order = paid_order(shop)
    desks = [open_desk(make_staff(shop, name)) for name in ("anna", "ben")]
    answers = run_concurrently(*(partial(desk.post, QUEUE) for desk in desks))
    printed = [answer["Content-Type"] == "application/pdf" for answer in answers]
    assert sorted(printed) == [False, True]
    order.refresh_from_db()
    assert order.printed_by == f"{('anna', 'ben')[printed.index(True)]}@example.com"
