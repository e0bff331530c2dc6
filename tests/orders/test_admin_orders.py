"""Orders in the admin: display, note and tags, actions."""

import re
from decimal import Decimal

import pytest

from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order, OrderLine
from storefront.orders.words import keep_words
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import Payment, Refund
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW
from tests.staff import Desk, admin_url

# Its orders are made by hand.
pytestmark = pytest.mark.disagrees

ADDRESS = {"name": "Mia Lind", "line1": "Strandgatan 3", "postal_code": "22100", "city": "Mariehamn", "country": "AX"}


@pytest.fixture
def role() -> str:
    return "manager"


def make_order(shop, number: int = 1001, **given) -> Order:
    given = {
        "email": "mia@example.com",
        "currency": "EUR",
        "subtotal": Decimal("1234.50"),
        "total": Decimal("1239.40"),
        "shipping": Decimal("4.90"),
        "shipping_method": "Parcel",
        "prices_include_tax": True,
        "billing_address": ADDRESS,
        "shipping_address": ADDRESS,
        "payment_method": "manual",
        "placed_at": NOW,
        "updated_at": NOW,
    } | given
    order = Order.objects.create(shop=shop, number=number, **given)
    product = make_product(shop, f"Mug {number}", stock_qty=3)
    OrderLine.objects.create(
        shop=shop,
        order=order,
        product=product,
        name="Mug",
        qty=2,
        unit_price=Decimal("617.25"),
        line_total=Decimal("1234.50"),
        options=[{"id": 1, "name": "Engraving", "value": "Gold", "price": "5.00"}],
        stock_taken=[{"stock": "product", "id": product.pk, "qty": 2}],
    )
    keep_words([(order, order.lines.all())])
    Payment.objects.create(
        shop=shop,
        order=order,
        gateway="manual",
        status="pending",
        state="promised",
        amount=order.total,
        currency="EUR",
        created_at=NOW,
        updated_at=NOW,
    )
    return order


def dialog(desk: Desk, order: Order, deed: str, **given: str):
    url = admin_url(order, "change").replace("change/", f"{deed}/")
    return desk.post(url, {"_form_submitted": "on", **given}, follow=True)


def test_an_order_reads_as_people_write_it(desk, shop):
    page = desk.page(make_order(shop)).content.decode()
    for text in ("#1001", "€1,239.40", "€4.90", "Parcel", "Engraving: Gold", "22100 Mariehamn", "21 Nov 2026, 08:30"):
        assert text in page
    assert "Åland Islands" in page


def test_only_what_can_still_be_done_is_offered(desk, shop):
    page = desk.page(make_order(shop)).content.decode()
    assert all(text in page for text in ("Mark as paid", "Mark as fulfilled", "/cancel/"))
    page = desk.page(make_order(shop, 1002, status="cancelled")).content.decode()
    assert not any(text in page for text in ("Mark as paid", "Mark as fulfilled", "/cancel/"))
    page = desk.page(make_order(shop, 1003, payment_status="paid")).content.decode()
    assert "Mark as fulfilled" in page
    assert "Mark as paid" not in page


def test_only_note_and_tags_can_be_edited(desk, shop):
    order = make_order(shop)
    desk.fill(order, note="Call first", tags="gift, late", total="0.00", email="x@example.com", status="cancelled")
    order.refresh_from_db()
    assert (order.note, order.tags) == ("Call first", ["gift", "late"])
    assert (order.total, order.email, order.status) == (Decimal("1239.40"), "mia@example.com", "open")


def test_orders_can_be_neither_added_nor_deleted(desk, shop):
    order = make_order(shop)
    assert desk.get(admin_url(Order, "add")).status_code == 403
    assert desk.post(admin_url(order, "delete"), {"post": "yes"}).status_code == 403


def test_opening_a_dialog_changes_nothing(desk, shop):
    order = make_order(shop)
    for deed in ("fulfil", "mark_paid", "cancel"):
        assert desk.get(admin_url(order, "change").replace("change/", f"{deed}/")).status_code == 200
    order.refresh_from_db()
    assert (order.status, order.payment_status) == ("open", "pending")


def test_marked_as_paid_and_fulfilled(desk, shop):
    order = make_order(shop)
    assert dialog(desk, order, "mark_paid").status_code == 200
    assert "Marked as fulfilled." in dialog(desk, order, "fulfil").content.decode()
    order.refresh_from_db()
    assert (order.status, order.payment_status) == ("fulfilled", "paid")
    assert order.payments.get().status == "paid"
    deeds = AuditEntry.objects.filter(object_type="order", object_id=order.pk).order_by("id")
    assert [entry.action for entry in deeds] == ["order.marked_paid", "order.fulfilled"]


def test_cancelling_restocks_the_items(desk, shop):
    order = make_order(shop)
    dialog(desk, order, "cancel")
    order.refresh_from_db()
    assert order.status == "cancelled"
    assert order.lines.get().product.stock_qty == 5


def test_order_page_links_to_the_tracking(desk, shop):
    order = make_order(shop)
    url = "https://dhl.example.com/?q=JD0146"
    page = dialog(desk, order, "fulfil", carrier="DHL", tracking_number="JD0146", tracking_url=url).content.decode()
    assert "2 × Mug" in page
    assert f'<a href="{url}" rel="noopener noreferrer">JD0146</a>' in page
    assert order.fulfilments.get().carrier == "DHL"


def test_refuses_a_tracking_url_that_is_not_http(desk, shop):
    order = make_order(shop)
    page = dialog(desk, order, "fulfil", tracking_url="ftp://example.com/x").content.decode()
    assert "Enter a URL that begins with http:// or https://." in page
    assert not order.fulfilments.exists()


@pytest.mark.slow
def test_order_can_be_refunded_in_several_amounts(desk, shop):
    order = paid_order(shop)
    assert "/refund/" in desk.page(order).content.decode()
    page = dialog(desk, order, "refund", amount="39.40", reason="Scratched").content.decode()
    for text in ("Refund started.", "€39.40", "Pending", "Scratched"):
        assert text in page
    assert pay_back_refunds(now=clock.now(), limit=10) == 1
    page = desk.page(order).content.decode()
    assert "Partially refunded" in page
    assert "Done" in page
    assert (
        "At most €1,200.00 can still be refunded." in dialog(desk, order, "refund", amount="1200.01").content.decode()
    )
    assert "Everything that is left: €1,200.00" in desk.get(refund_url(order)).content.decode()
    dialog(desk, order, "refund", everything="on")
    assert order.payments.get().refunded == order.total
    assert "/refund/" not in desk.page(order).content.decode()


@pytest.mark.parametrize("amount", ["0", "-1", "1.005", "x"])
def test_invalid_refund_amount_is_a_field_error(desk, shop, amount):
    order = paid_order(shop)
    assert dialog(desk, order, "refund", amount=amount).status_code == 200
    assert not order.refunds.exists()


def test_fulfilled_items_can_be_restocked_with_a_refund(desk, shop):
    order = paid_order(shop)
    url = admin_url(order, "change").replace("change/", "refund/")
    assert "Restock items" not in desk.get(url).content.decode()
    dialog(desk, order, "fulfil")
    assert "Restock all items" in desk.get(url).content.decode()
    dialog(desk, order, "refund", everything="on", restock="on")
    assert order.lines.get().product.stock_qty == 5
    assert "Restock items" not in desk.get(url).content.decode()


def refund_url(order: Order) -> str:
    return admin_url(order, "change").replace("change/", "refund/")


def paid_order(shop) -> Order:
    """An order of two mugs at 617.25 each and of delivery for 4.90."""
    order = make_order(shop, payment_status="paid")
    order.payments.update(status="paid", state="paid", captured=order.total)
    return order


@pytest.mark.parametrize("given", [{}, {"restock": "on", "reason": "x"}, {"shipping": "0.00"}, {"amount": ""}])
def test_a_refund_of_nothing_is_refused_and_says_why(desk, shop, given):
    order = paid_order(shop)
    page = dialog(desk, order, "refund", **given).content.decode()
    assert "Choose items, delivery, an amount or everything." in page
    assert re.search(r"<button[^>]* disabled", page)
    assert not order.refunds.exists()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "Refund"),
        ({"unsent": "1"}, "Refund €617.25"),
        ({"unsent": "2", "shipping": "4.90"}, "Refund €1,239.40"),
        ({"unsent": "1", "amount": "5"}, "Refund €5.00"),
        ({"amount": "16.20"}, "Refund €16.20"),
        ({"everything": "on"}, "Refund €1,239.40"),
        ({"everything": "on", "unsent": "1", "amount": "2"}, "Refund €1,239.40"),
        ({"unsent": "3"}, "Refund"),
        ({"shipping": "5.00"}, "Refund"),
        ({"amount": "1239.41"}, "Refund"),
        ({"unsent": "1", "amount": "700"}, "Refund"),
    ],
)
def test_the_button_says_what_would_be_refunded_and_nothing_is(desk, shop, given, text):
    order = paid_order(shop)
    line = order.lines.get()
    given = {f"{name}_{line.pk}" if name == "unsent" else name: value for name, value in given.items()}
    form = desk.post(refund_url(order), {"_form_submitted": ""} | given).context["form"]
    assert (form.summary.text, form.summary.is_ready) == (text, text != "Refund")
    assert bool(form.summary.problem) == (text == "Refund")
    assert not order.refunds.exists()


def test_the_dialog_opens_with_everything_chosen_and_nothing_is_refunded(desk, shop):
    order = paid_order(shop)
    form = desk.get(refund_url(order)).context["form"]
    assert (form.summary.text, form.summary.is_ready, form["everything"].value()) == ("Refund €1,239.40", True, True)
    assert not order.refunds.exists()


def test_another_sum_than_the_button_said_is_not_refunded(desk, shop):
    order = paid_order(shop)
    dialog(desk, order, "refund", amount="100.00")
    page = dialog(desk, order, "refund", everything="on", pressed="Refund €1,239.40").content.decode()
    assert "The sum has changed." in page
    assert order.refunds.count() == 1
    dialog(desk, order, "refund", everything="on", pressed="Refund €1,139.40")
    assert order.payments.get().refunded == order.total


def test_the_dialog_knows_no_other_shops_order(desk, shop, other_shop):
    theirs = paid_order(other_shop)
    assert desk.post(refund_url(theirs), {"_form_submitted": "", "everything": "on"}).status_code == 404
    assert not Refund.objects.exists()


def test_cancellation_reason_is_saved(desk, shop):
    order = make_order(shop)
    assert "Sold out since" in dialog(desk, order, "cancel", reason="Sold out since").content.decode()


def test_partially_fulfilled_order_offers_no_cancellation(desk, shop):
    order = make_order(shop)
    fulfil_order(shop=shop, order=order, pieces=[(order.lines.get().pk, 1)], now=NOW)
    page = desk.page(order).content.decode()
    assert "/cancel/" not in page
    assert "/fulfil/" in page


def test_another_shops_order_opens_no_dialog(desk, other_shop):
    order = make_order(other_shop, payment_status="paid")
    for deed in ("fulfil", "refund", "cancel"):
        assert dialog(desk, order, deed).status_code == 404
    assert not order.fulfilments.exists()
    assert not order.refunds.exists()


@pytest.mark.parametrize("tags", ["x" * 41, ", ".join(f"tag {number}" for number in range(21))])
def test_tags_are_few_and_short(desk, shop, tags):
    order = make_order(shop)
    assert desk.fill(order, tags=tags).status_code == 200
    order.refresh_from_db()
    assert order.tags == []


def test_refused_action_shows_its_message(desk, shop):
    order = make_order(shop, status="cancelled")
    assert "Only an open order" in dialog(desk, order, "fulfil").content.decode()
    assert "Only an open order" in dialog(desk, order, "cancel").content.decode()
    order.refresh_from_db()
    assert order.status == "cancelled"


def test_bulk_fulfilment_names_the_skipped_orders(desk, shop):
    one, other = make_order(shop), make_order(shop, 1002, status="cancelled")
    page = desk.choose(Order, "fulfil_chosen", one, other).content.decode()
    one.refresh_from_db()
    assert one.status == "fulfilled"
    assert "#1002" in page


def test_orders_are_found_by_number_and_address(desk, shop):
    make_order(shop)
    make_order(shop, 1002, email="bo@example.com")

    def found(q: str) -> list[int]:
        return [row.number for row in desk.get(admin_url(Order, "changelist"), {"q": q}).context_data["cl"].queryset]

    assert found("1002") == [1002]
    assert found("mia@") == [1001]


def test_payments_are_read_only(desk, shop):
    payment = make_order(shop).payments.get()
    assert "€1,239.40" in desk.page(payment).content.decode()
    assert desk.post(admin_url(payment, "change"), {"amount": "0"}).status_code == 403


def test_part_of_an_order_is_fulfilled_by_quantities(desk, shop):
    order = make_order(shop)
    line = order.lines.get()
    page = desk.get(admin_url(order, "change").replace("change/", "fulfil/")).content.decode()
    assert f'name="qty_{line.pk}"' in page
    assert "2 of 2 left" in page
    dialog(desk, order, "fulfil", **{f"qty_{line.pk}": "1"}, carrier="DHL")
    line.refresh_from_db()
    assert line.fulfilled_qty == 1
    # Of a page that was opened before the rest was sent, nothing is passed over.
    answer = dialog(desk, order, "fulfil", **{f"qty_{line.pk}": "2"})
    assert "1 is left to fulfil" in answer.content.decode()
    answer = dialog(desk, order, "fulfil", **{f"qty_{line.pk}": "0"})
    assert "Choose at least one item." in answer.content.decode()
    answer = dialog(desk, order, "fulfil", **{f"qty_{line.pk}": "3"})
    line.refresh_from_db()
    assert line.fulfilled_qty == 1


def test_a_fulfilment_is_cancelled(desk, shop):
    order = make_order(shop)
    made = fulfil_order(shop=shop, order=order, now=NOW)
    theirs = fulfil_order(shop=shop, order=make_order(shop, 1002), now=NOW)
    dialog(desk, order, "cancel_fulfilment", fulfilment=str(theirs.pk))
    page = dialog(desk, order, "cancel_fulfilment", fulfilment=str(made.pk)).content.decode()
    assert "Fulfilment cancelled." in page
    order.refresh_from_db()
    theirs.refresh_from_db()
    assert (order.status, order.fulfilment_status, theirs.cancelled_at) == ("open", "unfulfilled", None)
    (entry,) = AuditEntry.objects.filter(shop=shop, action="order.fulfilment_cancelled")
    assert (entry.object_id, entry.after["fulfilment"]) == (order.pk, made.pk)
    assert "Cancel a fulfilment" not in page


def test_items_and_delivery_are_refunded_by_quantities(desk, shop):
    order = make_order(shop)
    line = order.lines.get()
    dialog(desk, order, "mark_paid")
    fulfil_order(shop=shop, order=order, pieces=[(line.pk, 1)], now=NOW)
    page = desk.get(admin_url(order, "change").replace("change/", "refund/")).content.decode()
    for name in (f"unsent_{line.pk}", f"sent_{line.pk}", f"restock_sent_{line.pk}", "shipping"):
        assert f'name="{name}"' in page
    given = {f"unsent_{line.pk}": "1", f"restock_unsent_{line.pk}": "on", "shipping": "4.90", "reason": "Sold out"}
    shown = dialog(desk, order, "refund", **given).content.decode()
    assert "Refund started." in shown
    refund = order.refunds.get()
    assert (refund.amount, refund.shipping, refund.restocked) == (Decimal("622.15"), Decimal("4.90"), True)
    line.refresh_from_db()
    assert (line.refunded_qty, line.withdrawn_qty, line.restocked_qty) == (1, 1, 1)
    assert "1 × Mug, delivery €4.90" in shown
    answer = dialog(desk, order, "refund", **given).content.decode()
    assert order.refunds.count() == 1
    assert "Nothing is left to refund of the delivery." in answer or "can still be refunded" in answer
