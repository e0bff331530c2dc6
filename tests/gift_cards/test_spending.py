"""A gift card pays at the checkout: all of an order, or a part of it beside a provider."""

from decimal import Decimal

import pytest
from limits import parse

from storefront.gift_cards.models import GiftCardEntry
from storefront.kit import clock
from storefront.orders.jobs import confirmation_mail
from storefront.orders.models import Order
from storefront.payments.actions import cancel_order, mark_paid
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import OrderDraft, Payment
from storefront.webhooks.models import Event
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import DECLINED, Shopper
from tests.factories.apps import install
from tests.gift_cards.factories import balance, make_card

pytestmark = pytest.mark.django_db


def fill(shopper, product, **given) -> None:
    shopper.post("/basket/add", {"product": product.pk, "qty": "1"} | given)
    shopper.fill_details(**{f"billing-{name}": value for name, value in ADDRESS.items()})


def enter(shopper, code) -> str:
    """Enter the code. Returns the payment page after it, which has a refused code in its field."""
    answer = shopper.post("/checkout/gift-cards", {"gift_card": code})
    if answer.status_code == 303:
        return shopper.read("/checkout/payment")
    page = answer.content.decode()
    kept = f'value="{code[:100]}" autofocus aria-invalid="true" aria-describedby="gift-card-error"'
    assert (answer.status_code, kept in page, "no-store" in answer["Cache-Control"]) == (422, True, True)
    return page


def test_it_pays_for_an_order_without_a_provider_and_keeps_the_rest(shop, shopper, mug):
    card, code = make_card(shop)
    fill(shopper, mug)
    page = enter(shopper, code.lower().replace("-", " "))
    assert f"Gift card …{card.last_four}" in page
    assert "To pay" in page
    assert 'name="method"' not in page
    answer = shopper.post("/checkout/payment", shopper.payment_fields(""))
    order = Order.objects.get()
    assert answer["Location"].endswith(f"/orders/{order.public_id}")
    assert (order.total, order.amount_due, order.payment_status) == (20, 0, "paid")
    assert (order.payment_method, balance(card)) == ("gift_card", 30)
    payment = order.payments.get()
    assert (payment.state, payment.captured, payment.method) == ("paid", 20, f"Gift card …{card.last_four}")
    assert f"Gift card …{card.last_four}" in shopper.read(answer["Location"])


@pytest.mark.parametrize("between", ["\u00a0", "\u200b-", "\u2011", " \u2013 "])
def test_its_code_works_with_what_was_copied_along(shop, api, shopper, mug, between):
    card, code = make_card(shop)
    pasted = "\ufeff" + code.replace("-", between)
    fill(shopper, mug)
    assert f"Gift card …{card.last_four}" in enter(shopper, pasted)
    answer = api.put("/cart/gift-cards", {"codes": [pasted]})
    assert [each["last_four"] for each in answer.json()["data"]["gift_cards"]] == [card.last_four]


@pytest.mark.slow
def test_it_pays_over_several_orders_until_it_is_used_up(shop, shopper, mug):
    card, code = make_card(shop, "30.00")
    for due in (0, 10):
        fill(shopper, mug)
        enter(shopper, code)
        shopper.post("/checkout/payment", shopper.payment_fields("manual" if due else ""))
        assert Order.objects.latest("id").amount_due == due
    assert balance(card) == 0
    fill(shopper, mug)
    assert "This gift card has been used up." in enter(shopper, code)


def test_a_provider_takes_what_is_left(shop, shopper, mug):
    shop.payment_methods = ["demo"]
    shop.save()
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    assert "Place order and pay €15.00" in enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("demo"))
    order = Order.objects.get()
    assert (order.payment_status, order.payment_method, order.amount_due) == ("paid", "demo", 0)
    paid = {payment.gateway: (payment.state, payment.captured) for payment in order.payments.all()}
    assert paid == {"gift_card": ("paid", 5), "demo": ("paid", 15)}
    assert balance(card) == 0


def test_a_declined_payment_puts_it_back_at_once_and_it_pays_the_next_try(shop, shopper, mug):
    shop.payment_methods = ["demo"]
    shop.save()
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("demo", number=DECLINED))
    assert (balance(card), Order.objects.count(), OrderDraft.objects.get().state) == (5, 0, "ended")
    assert Payment.objects.get(gateway="gift_card").state == "cancelled"
    shopper.post("/checkout/payment", shopper.payment_fields("demo"))
    assert (balance(card), Order.objects.get().payment_status) == (0, "paid")


def test_several_cards_pay_in_the_order_of_entering(shop, shopper, mug):
    (first, one), (second, two) = make_card(shop, "5.00"), make_card(shop, "100.00")
    fill(shopper, mug)
    enter(shopper, one)
    enter(shopper, two)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    assert (balance(first), balance(second)) == (0, 85)
    assert [each["amount"] for each in Order.objects.get().gift_cards] == ["5.00", "15.00"]


def test_it_can_be_taken_out_again(shop, shopper, mug):
    card, code = make_card(shop)
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/gift-cards", {"remove": str(card.pk)})
    assert "Place order and pay €20.00" in shopper.read("/checkout/payment")
    shopper.post("/checkout/gift-cards", {"remove": "²"})


@pytest.mark.parametrize("code", ["", "nothing", "2222-2222-2222-2222-2222", "x" * 5000])
def test_an_unknown_code_is_refused(shop, shopper, mug, code):
    fill(shopper, mug)
    assert "This gift card code is not valid." in enter(shopper, code)


def test_another_shops_card_is_unknown_here(shop, other_shop, shopper, mug):
    card, code = make_card(other_shop)
    fill(shopper, mug)
    assert "This gift card code is not valid." in enter(shopper, code)
    shopper.browser.post("/gift-card", {"gift_card": code})
    assert balance(card) == 50


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"disabled_at": clock.now()}, "This gift card is no longer valid."),
        ({"expires_at": clock.now()}, "This gift card has expired."),
        ({"currency": "USD"}, "This gift card is in another currency."),
    ],
)
def test_a_card_that_cannot_be_used_pays_nothing(shop, shopper, mug, change, text):
    card, code = make_card(shop)
    fill(shopper, mug)
    page = enter(shopper, code)
    form = shopper.payment_fields("")
    type(card).objects.update(**change)
    answer = shopper.post("/checkout/payment", form)
    assert answer.status_code == 422
    assert "The gift card" in answer.content.decode()
    assert "was removed." in answer.content.decode()
    assert not Order.objects.exists()
    assert text in shopper.read("/checkout/payment")
    shopper.post("/checkout/gift-cards", {"remove": str(card.pk)})
    assert text in enter(shopper, code)
    assert code not in page


def test_a_gift_card_cannot_pay_for_a_gift_card(shop, shopper, mug, card_product):
    card, code = make_card(shop)
    fill(shopper, card_product)
    page = enter(shopper, code)
    assert "Gift cards cannot pay for gift cards." in page
    assert "Place order and pay €25.00" in page
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    shopper.post("/checkout/delivery", {"delivery": "-"})
    assert "Place order and pay €25.00" in shopper.read("/checkout/payment")
    shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    assert balance(card) == 30


def test_the_events_and_the_api_show_what_it_paid_and_never_the_code(shop, shopper, mug, api):
    install(shop)
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    order = Order.objects.get()
    record = api.get(f"/orders/{order.pk}").json()["data"]
    assert (record["total"], record["amount_due"]) == ("20.00", "15.00")
    assert record["gift_cards"] == [{"last_four": card.last_four, "amount": "5.00"}]
    assert Event.objects.get(topic="order.placed").data["gift_cards"] == record["gift_cards"]
    plain = code.replace("-", "")
    for event in Event.objects.all():
        assert plain not in str(event.data)
        assert code not in str(event.data)


def test_money_goes_back_to_where_it_came_from(shop, shopper, mug, api):
    shop.payment_methods = ["demo"]
    shop.save()
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("demo"))
    order = Order.objects.get()
    assert api.post(f"/orders/{order.pk}/refunds", {}).status_code == 201
    assert pay_back_refunds(now=clock.now(), limit=10) == 2
    order.refresh_from_db()
    returned = {payment.gateway: payment.returned for payment in order.payments.all()}
    assert (returned, order.payment_status) == ({"gift_card": 5, "demo": 15}, "refunded")
    assert balance(card) == 5
    kinds = list(GiftCardEntry.objects.filter(card=card).values_list("kind", "amount", "balance"))
    assert kinds[-2:] == [("spent", -5, 0), ("refunded", 5, 5)]


def test_a_refund_reaches_a_card_that_was_disabled_meanwhile(shop, shopper, mug, api):
    card, code = make_card(shop)
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    type(card).objects.update(disabled_at=clock.now())
    api.post(f"/orders/{Order.objects.get().pk}/refunds", {"amount": "3.00"})
    pay_back_refunds(now=clock.now(), limit=10)
    assert balance(card) == 33


def test_an_unpaid_order_that_is_cancelled_gives_it_back(shop, shopper, mug, api):
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    order = Order.objects.get()
    assert (order.payment_status, balance(card)) == ("pending", 0)
    assert api.post(f"/orders/{order.pk}/refunds", {}).json()["code"] == "order_not_paid"
    assert api.post(f"/orders/{order.pk}/cancellation", {}).status_code == 201
    pay_back_refunds(now=clock.now(), limit=10)
    assert balance(card) == 5
    assert api.post(f"/orders/{order.pk}/refunds", {}).status_code == 422


def test_an_invoice_is_paid_for_by_both_parts(shop, shopper, mug, desk):
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    order = Order.objects.get()
    mark_paid(shop=shop, order=order, now=clock.now())
    order.refresh_from_db()
    assert order.payment_status == "paid"
    assert sum(payment.captured for payment in order.payments.all()) == order.total
    assert f"…{card.last_four}" in desk.page(order).content.decode()


@pytest.mark.rule("R-APP-45")
@pytest.mark.parametrize("end", ["paid", "cancelled"])
def test_nothing_is_left_to_pay_of_an_order_that_is_paid_or_cancelled(shop, shopper, mug, api, end):
    """In the API, its lists, its events, on its page and in its mail."""
    install(shop)
    _, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    url = shopper.post("/checkout/payment", shopper.payment_fields("manual"))["Location"]
    order = Order.objects.get()
    assert "To pay" in shopper.read(url)
    assert "To pay: €15.00" in confirmation_mail(order).body
    if end == "paid":
        mark_paid(shop=shop, order=order, now=clock.now())
    else:
        cancel_order(shop=shop, order=order, now=clock.now())
    order.refresh_from_db()
    assert order.amount_due == 0
    assert api.get(f"/orders/{order.pk}").json()["data"]["amount_due"] == "0.00"
    assert [each["amount_due"] for each in api.get("/orders").json()["data"]] == ["0.00"]
    events = {event.topic: event.data["amount_due"] for event in Event.objects.filter(topic__startswith="order.")}
    assert (events["order.placed"], events[f"order.{end}"]) == ("15.00", "0.00")
    assert "To pay" not in shopper.read(url)
    assert "To pay" not in confirmation_mail(order).body


def test_a_press_repeated_spends_once(shop, shopper, mug):
    card, code = make_card(shop)
    fill(shopper, mug)
    enter(shopper, code)
    form = shopper.payment_fields("")
    assert {shopper.post("/checkout/payment", form)["Location"] for _ in range(3)} == {
        f"/orders/{Order.objects.get().public_id}"
    }
    assert balance(card) == 30


def test_guesses_are_limited_and_then_right_codes_are_refused_too(shop, shopper, mug, settings):
    settings.LIMITS = settings.LIMITS | {"gift_cards": settings.LIMITS["gift_cards"]}
    _, code = make_card(shop)
    fill(shopper, mug)
    for _ in range(20):
        shopper.post("/checkout/gift-cards", {"gift_card": "2222-2222-2222-2222-2222"})
    assert "Too many attempts." in enter(shopper, code)
    answer = shopper.post("/gift-card", {"gift_card": code})
    assert answer.status_code == 429
    assert "Balance" not in answer.content.decode()


def test_the_balance_page_shows_what_is_left(shop, shopper):
    _, code = make_card(shop)
    assert "Gift card code" in shopper.read("/gift-card")
    answer = shopper.post("/gift-card", {"gift_card": code})
    page = answer.content.decode()
    assert (answer.status_code, "€50.00" in page, "does not expire" in page) == (200, True, True)
    # The card is shown with its code, to be printed, on a page that nobody else is given.
    assert (code in page, "no-store" in answer["Cache-Control"]) == (True, True)
    assert shopper.post("/gift-card", {"gift_card": "nothing"}).status_code == 422
    assert "Please enter the code." in shopper.post("/gift-card", {}).content.decode()


@pytest.mark.rule("R-CART-46", "R-CART-47")
def test_a_cart_of_the_api_is_paid_with_a_card_that_its_link_brings(shop, shopper, mug, api):
    card, code = make_card(shop, "5.00")
    token = api.post("/cart", {"product_id": mug.pk, "qty": 1}).json()["cart_token"]
    answer = api.put("/cart/gift-cards", {"codes": [code]}, cart=token)
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    assert data["gift_cards"] == [{"last_four": card.last_four, "amount": "5.00", "refused": None}]
    assert (data["totals"]["total"], data["totals"]["amount_due"]) == ("20.00", "15.00")
    refused = api.put("/cart/gift-cards", {"codes": [code, "nothing"]}, cart=token).json()
    assert (refused["code"], list(refused["errors"])) == ("gift_cards_refused", ["codes.1"])
    shopper.arrive(api.post("/cart/checkout", cart=token).json()["checkout_url"])
    shopper.fill_details()
    shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    assert (Order.objects.get().amount_due, balance(card)) == (15, 0)
    assert api.get("/cart", cart=token).json()["data"]["gift_cards"] == []
    assert api.put("/cart/gift-cards", {"codes": []}, cart=token).status_code == 200


def test_somebody_elses_payment_under_way_is_not_ones_own(shop, mug):
    """What a basket's own payment holds is still its own; another basket's is gone."""
    shop.payment_methods = ["demo"]
    shop.save()
    card, code = make_card(shop, "20.00")
    one, other = Shopper(shop), Shopper(shop)
    for each in (one, other):
        fill(each, mug)
        enter(each, code)
    form = other.payment_fields("")
    one.post("/checkout/payment", one.payment_fields(""))
    answer = other.post("/checkout/payment", form)
    assert answer.status_code == 422
    assert (Order.objects.count(), balance(card)) == (1, 0)


@pytest.mark.rule("R-CART-48")
def test_a_token_that_guesses_is_stopped(shop, api, settings):
    settings.LIMITS = settings.LIMITS | {"gift_cards_token": [parse("3/hour")]}
    _, code = make_card(shop)
    guesses = [{"codes": ["2222-2222-2222-2222-2222"]}] * 3
    assert [api.put("/cart/gift-cards", guess).status_code for guess in guesses] == [422, 422, 422]
    assert api.put("/cart/gift-cards", {"codes": [code]}).status_code == 429


@pytest.mark.rule("R-CART-50")
def test_prices_of_the_shop_do_not_count_gift_cards(shop, api, card_product):
    from tests.pricing.rows import make_code, make_discount

    make_discount(shop, "Sale", 50)
    make_code(shop, "FIVE", minimum_subtotal=Decimal("20.00"))
    item = make_product(shop, "Saucer", price="10.00")
    token = api.post("/cart", {"product_id": card_product.pk, "qty": 1}).json()["cart_token"]
    api.put("/cart/discount-codes", {"codes": ["FIVE"]}, cart=token)
    data = api.get("/cart", cart=token).json()["data"]
    assert (data["totals"]["discount"], data["discount_codes"][0]["refused"]["code"]) == (
        "0.00",
        "discount_code_not_applicable",
    )
    api.post("/cart", {"product_id": item.pk, "qty": 1}, cart=token)
    assert api.get("/cart", cart=token).json()["data"]["totals"]["discount"] == "5.00"
