"""Codes entered in the basket and at the checkout, and what an order with one uses."""

import pytest
from django.utils import timezone

from storefront.carts.models import Cart
from storefront.orders.jobs import confirmation_mail
from storefront.orders.models import Order
from storefront.orders.queries import order_record
from storefront.payments.actions import cancel_order
from storefront.payments.models import OrderDraft, Payment, Refund
from storefront.payments.providers.base import Report, Standing
from storefront.payments.settling import settle
from storefront.pricing.models import Discount, DiscountCode, Redemption, ShippingRate
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.payments.conftest import account_of, bank, return_path  # noqa: F401, a fixture
from tests.payments.test_redirect import later
from tests.pricing.rows import make_code, make_discount, make_rate
from tests.races import run_concurrently
from tests.shops.factories import make_token


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="10.00", stock_qty=100)


def fill(shopper, mug, *codes) -> None:
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    for code in codes:
        shopper.post("/basket/discount-codes", {"code": code})


def buy(shop, mug, *codes, email="ada@example.com", method="manual"):
    """What a new shopper gets who orders with these codes."""
    shopper = Shopper(shop)
    fill(shopper, mug, *codes)
    shopper.fill_details(email=email)
    return shopper.post("/checkout/payment", shopper.payment_fields(method))


def uses(code: str = "SPRING10") -> tuple[int, int, int]:
    """Of the code, of its discount, and how many redemptions stand for them."""
    found = DiscountCode.objects.select_related("discount").get(code=code)
    return found.uses, found.discount.uses, found.redemptions.count()


def test_a_code_from_the_basket_to_the_order(shop, other_shop, shopper, mug):
    make_code(shop)
    fill(shopper, mug)
    page = shopper.post("/basket/discount-codes", {"code": "spring10"}, follow=True).content.decode()
    assert "Spring (SPRING10)" in page
    assert "−€1.00" in page
    assert shopper.order().status_code == 303
    order = Order.objects.get()
    assert (order.discount, order.total) == (1, 9)
    assert order_record(order)["discount_lines"] == [{"name": "Spring", "amount": "1.00", "code": "SPRING10"}]
    assert Event.objects.get(topic="order.placed").data["discount_lines"][0]["code"] == "SPRING10"
    assert "Spring (SPRING10): −€1.00" in confirmation_mail(order).body
    assert "Spring (SPRING10)" in shopper.read(f"/orders/{order.public_id}")
    assert uses() == (1, 1, 1)
    # The next basket begins without it.
    assert "SPRING10" not in shopper.post("/basket/add", {"product": mug.pk, "qty": "1"}, follow=True).content.decode()


def test_a_code_entered_and_removed_on_the_payment_page(shop, shopper, mug):
    make_code(shop)
    fill(shopper, mug)
    shopper.fill_details()
    page = shopper.post("/checkout/discount-codes", {"code": "SPRING10"}, follow=True)
    assert page.redirect_chain == [("/checkout/payment", 303)]
    assert "Place order and pay €9.00" in page.content.decode()
    page = shopper.post("/checkout/discount-codes", {"remove": "SPRING10"}, follow=True)
    assert "Place order and pay €10.00" in page.content.decode()


def test_pages_say_in_plain_words_why_a_code_takes_nothing_off(shop, other_shop, shopper, mug):
    make_code(shop, "BIG", minimum_subtotal=50)
    make_code(other_shop, "THEIRS")
    fill(shopper, mug, "BIG")
    assert "This code needs a subtotal of at least €50.00." in shopper.read("/basket")
    shopper.fill_details()
    for path in ("/basket/discount-codes", "/checkout/discount-codes"):
        answer = shopper.post(path, {"code": "THEIRS"})
        page = answer.content.decode()
        assert answer.status_code == 422
        # At its field, which keeps it.
        assert 'value="THEIRS" autofocus aria-invalid="true" aria-describedby="discount-code-error"' in page
        assert '<p class="field__error" id="discount-code-error" role="alert">This code is not valid.</p>' in page
    assert "THEIRS" not in shopper.read("/checkout/payment")


def test_a_visitor_may_guess_only_so_often(shop, settings, shopper, mug):
    settings.LIMITS = settings.LIMITS | {"discount_codes": settings.LIMITS["accounts_each"]}
    make_code(shop)
    fill(shopper, mug, *["NO"] * 5)
    shopper.read("/basket")
    # The right code is refused, too, so that a refusal tells nothing.
    page = shopper.post("/basket/discount-codes", {"code": "SPRING10"}, follow=True).content.decode()
    assert "Too many attempts." in page
    assert "<strong>SPRING10</strong>" not in page


def test_free_delivery_is_shown_at_every_step(shop, shopper, mug):
    make_rate(shop, free_with_discount=True)
    make_rate(shop, "Express", "9.90", free_with_discount=True)
    make_code(shop, "FREE", kind="free_delivery", value=0)
    fill(shopper, mug, "FREE")
    shopper.fill_details()
    page = shopper.read("/checkout/delivery")
    assert ("€4.90" not in page, page.count("Free</span>")) == (True, 2)
    shopper.choose_delivery(str(ShippingRate.objects.first().pk))
    shopper.post("/checkout/payment", shopper.payment_fields())
    order = Order.objects.get()
    assert (order.discount, order.shipping, order.total) == (0, 0, 10)
    assert order_record(order)["discount_lines"] == [{"name": "Spring", "amount": "0.00", "code": "FREE"}]
    assert "Spring (FREE): Free delivery" in confirmation_mail(order).body


def test_a_used_up_code_is_refused_and_the_page_says_so(shop, shopper, mug):
    make_code(shop, limit=1)
    fill(shopper, mug, "SPRING10")
    shopper.fill_details()
    form = shopper.payment_fields()
    assert buy(shop, mug, "SPRING10").status_code == 303
    answer = shopper.post("/checkout/payment", form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "The discount Spring (SPRING10) (€1.00) was removed." in page
    assert "This code has been used up." in page
    assert (Order.objects.count(), uses()) == (1, (1, 1, 1))


def test_a_discount_changed_after_it_was_shown_is_refused(shop, shopper, mug):
    code = make_code(shop)
    fill(shopper, mug, "SPRING10")
    shopper.fill_details()
    form = shopper.payment_fields()
    Discount.objects.filter(pk=code.discount_id).update(value=5)
    answer = shopper.post("/checkout/payment", form)
    assert "The discount Spring (SPRING10) changed from €1.00 to €0.50." in answer.content.decode()
    assert Order.objects.count() == 0


@pytest.mark.slow
@pytest.mark.rule("R-CART-44")
@pytest.mark.parametrize("restock", [True, False])
def test_a_cancelled_order_gives_its_use_back_once(shop, mug, restock):
    make_code(shop, limit=1)
    assert buy(shop, mug, "SPRING10").status_code == 303
    order = Order.objects.get()
    cancel_order(shop=shop, order=order, restock=restock, now=timezone.now())
    assert uses() == (0, 0, 0)
    assert buy(shop, mug, "SPRING10").status_code == 303
    with pytest.raises(Exception, match="open order"):
        cancel_order(shop=shop, order=order, now=timezone.now())
    assert uses() == (1, 1, 1)


@pytest.mark.slow
def test_uses_per_customer_are_counted_by_email_or_account(shop, mug):
    make_code(shop, customer_limit=1)
    assert buy(shop, mug, "SPRING10").status_code == 303
    # Ordered by the same address, the page shows the basket without the discount.
    buy(shop, mug, "SPRING10", email="ADA@example.com")
    assert buy(shop, mug, "SPRING10", email="bo@example.com").status_code == 303
    assert sorted(Order.objects.values_list("total", flat=True)) == [9, 9, 10]
    assert uses() == (2, 2, 2)


@pytest.mark.slow
@pytest.mark.parametrize("email", ["ada+again@example.com", "Ada+1+2@EXAMPLE.com"])
def test_tags_of_an_address_are_no_further_customers(shop, mug, email):
    make_code(shop, customer_limit=1)
    assert buy(shop, mug, "SPRING10", email="ada+first@example.com").status_code == 303
    buy(shop, mug, "SPRING10", email=email)
    buy(shop, mug, "SPRING10", email="ada@example.com")
    # Most providers deliver these to somebody else.
    assert buy(shop, mug, "SPRING10", email="a.da@example.com").status_code == 303
    assert sorted(Order.objects.values_list("total", flat=True)) == [9, 9, 10, 10]


@pytest.mark.parametrize("pasted", ["SPRING\u200b10", "SPRING10\u00a0", "\ufeffspring10"])
def test_a_code_works_with_what_was_copied_along(shop, shopper, mug, pasted):
    make_code(shop)
    fill(shopper, mug, pasted)
    assert "SPRING10" in shopper.read("/basket")
    assert Cart.objects.get().discount_codes == ["SPRING10"]


def test_an_automatic_discount_is_counted_only_with_a_limit(shop, mug):
    make_discount(shop, "Always", 10)
    make_discount(shop, "First", 20, use_limit=1)
    for total in (7, 9):
        assert buy(shop, mug).status_code == 303
        assert Order.objects.latest("pk").total == total
    assert sorted(Discount.objects.values_list("name", "uses")) == [("Always", 0), ("First", 1)]


def test_a_payment_under_way_holds_its_use_for_its_own_basket(shop, bank, shopper, mug):  # noqa: F811
    make_code(shop, limit=1)
    fill(shopper, mug, "SPRING10")
    shopper.order("bank")
    assert (OrderDraft.objects.get().state, uses()) == ("open", (1, 1, 1))
    # For another basket it is used up, for its own it is not: the shopper may press again.
    assert b"used up" not in shopper.get("/checkout/payment").content
    other = Shopper(shop)
    fill(other, mug, "SPRING10")
    assert "used up" in other.read("/basket")
    bank.pay(account_of(bank))
    shopper.get(return_path())
    assert (Order.objects.get().total, uses(), Redemption.objects.get().cart_id) == (9, (1, 1, 1), None)


def test_a_payment_that_ends_without_an_order_gives_the_use_back(shop, bank, shopper, mug):  # noqa: F811
    make_code(shop, limit=1)
    fill(shopper, mug, "SPRING10")
    shopper.order("bank")
    bank.pay(account_of(bank), "decline")
    shopper.get(return_path())
    assert (OrderDraft.objects.get().state, uses()) == ("ended", (0, 0, 0))
    later(hours=3)
    assert uses() == (0, 0, 0)


@pytest.mark.parametrize("is_used_up", [False, True])
def test_money_that_comes_after_the_end_takes_the_use_again_or_goes_back(shop, bank, shopper, mug, is_used_up):  # noqa: F811
    make_code(shop, limit=1)
    fill(shopper, mug, "SPRING10")
    shopper.order("bank")
    account = account_of(bank)
    payment = Payment.objects.get()
    settle(shop=shop, payment=payment, report=Report(Standing.CANCELLED), source="news", now=timezone.now())
    assert uses() == (0, 0, 0)
    if is_used_up:
        assert buy(shop, mug, "SPRING10").status_code == 303
    paid = Report(Standing.PAID, captured=payment.amount, reference=account.id)
    settle(shop=shop, payment=payment, report=paid, source="news", now=timezone.now())
    assert (uses(), Order.objects.count()) == ((1, 1, 1), 1)
    assert Refund.objects.count() == is_used_up


def test_a_free_order_uses_the_code(shop, shopper, mug):
    make_code(shop, value=100, limit=1)
    fill(shopper, mug, "SPRING10")
    shopper.fill_details()
    answer = shopper.post("/checkout/payment", shopper.payment_fields())
    assert (answer.status_code, Order.objects.get().total, uses()) == (303, 0, (1, 1, 1))


@pytest.mark.rule("R-CART-45")
def test_a_checkout_link_brings_the_codes_and_the_order_takes_them_out_of_the_cart(shop, shopper, mug):
    make_code(shop)
    make_code(shop, "OWN", value=5, name="Own")
    api = ApiClient(make_token(shop))
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.post("/basket/discount-codes", {"code": "OWN"})
    token = api.put("/cart/discount-codes", {"codes": ["SPRING10"]}).json()["cart_token"]
    api.post("/cart", {"product_id": mug.pk, "qty": 1}, cart=token)
    shopper.arrive(api.post("/cart/checkout", cart=token).json()["checkout_url"])
    shopper.order()
    assert [line["code"] for line in Order.objects.get().discount_lines] == ["OWN", "SPRING10"]
    assert api.get("/cart", cart=token).json()["data"]["discount_codes"] == []


@pytest.mark.rule("R-CART-44")
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [{"limit": 1}, {"use_limit": 1}, {"customer_limit": 1}])
def test_the_last_use_is_given_once_in_carts_paid_at_once(shop, settings, mug, limit):
    settings.LIMITS = settings.LIMITS | {"orders": (), "orders_each": ()}
    make_code(shop, **limit)
    shoppers = [Shopper(shop) for _ in range(8)]
    forms = []
    for shopper in shoppers:
        fill(shopper, mug, "SPRING10")
        shopper.fill_details()
        forms.append(shopper.payment_fields("demo"))
    answers = run_concurrently(
        *(
            lambda shopper=shopper, form=form: shopper.post("/checkout/payment", form)
            for shopper, form in zip(shoppers, forms, strict=True)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [303] + [422] * 7
    assert (Order.objects.count(), uses()) == (1, (1, 1, 1))
    mug.refresh_from_db()
    assert mug.stock_qty == 99
