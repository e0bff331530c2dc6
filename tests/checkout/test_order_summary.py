"""An order is placed only as the payment page showed it; otherwise the page lists what changed."""

from decimal import Decimal

import pytest
from django.test import override_settings

from storefront.carts.models import Cart, CartLine
from storefront.catalogue.models import Product
from storefront.checkout import actions, queries
from storefront.checkout.models import Checkout
from storefront.orders.models import Order
from storefront.payments.models import Payment
from storefront.pricing.models import Discount, ShippingRate, TaxRate
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_option, make_product
from tests.checkout.shopper import Shopper, details, fill_cart, link_to, twin_of
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.pricing.rows import make_rate
from tests.races import run_concurrently

pytestmark = pytest.mark.slow

CHANGED = "Your order has changed. Please review it before you place it."


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price=Decimal("5.00"), stock_qty=50)


@pytest.fixture
def pot(shop):
    return make_product(shop, "Pot", price=Decimal("5.00"), stock_qty=50)


def choose(shopper: Shopper, product: Product, qty: int = 1) -> None:
    assert shopper.post("/basket/add", {"product": product.pk, "qty": qty}).status_code == 302


def refused(shopper: Shopper, form: dict[str, str]) -> str:
    """The page that comes back instead of an order."""
    answer = shopper.post("/checkout/payment", form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert CHANGED in page
    assert not Order.objects.exists()
    # The page as it is now can be ordered.
    assert shopper.post("/checkout/payment", shopper.payment_fields(form["method"])).status_code == 303
    return page


@pytest.fixture
def form(shopper, mug):
    choose(shopper, mug)
    shopper.fill_details()
    return shopper.payment_fields()


@pytest.mark.rule("R-LINK-16")
def test_a_quantity(shopper, mug, form):
    choose(twin_of(shopper), mug)
    page = refused(shopper, form)
    assert "<li>The quantity of Mug changed from 1 to 2.</li>" in page
    assert "<li>The total changed from €5.00 to €10.00.</li>" in page


def test_other_goods_for_the_same_total(shopper, mug, pot, form):
    tab = twin_of(shopper)
    choose(tab, pot)
    tab.post("/basket/update", {"key": f"p{mug.pk}", "qty": 0})
    page = refused(shopper, form)
    assert "<li>Pot was added.</li>" in page
    assert "<li>Mug was removed.</li>" in page
    assert "The total changed" not in page


@pytest.mark.rule("R-LINK-16")
def test_a_price(shopper, mug, form):
    Product.objects.filter(pk=mug.pk).update(price=Decimal("6.00"))
    page = refused(shopper, form)
    assert page.count("The price of Mug changed from €5.00 to €6.00.") == 1


def test_prices_that_change_against_each_other(shopper, mug, pot):
    choose(shopper, mug)
    choose(shopper, pot)
    shopper.fill_details()
    form = shopper.payment_fields()
    Product.objects.filter(pk=mug.pk).update(price=Decimal("6.00"))
    Product.objects.filter(pk=pot.pk).update(price=Decimal("4.00"))
    page = refused(shopper, form)
    assert "The price of Mug changed from €5.00 to €6.00." in page
    assert "The price of Pot changed from €5.00 to €4.00." in page


def test_a_name(shopper, mug, form):
    Product.objects.filter(pk=mug.pk).update(name="Chipped mug")
    assert "<li>Mug is now Chipped mug.</li>" in refused(shopper, form)


def test_the_label_of_what_was_chosen(shop, shopper, mug):
    option = make_option(mug, "Engraving")
    shopper.post("/basket/add", {"product": mug.pk, "qty": 1, f"option-{option.pk}": option.values.first().pk})
    shopper.fill_details()
    form = shopper.payment_fields()
    option.values.update(label="Tin")
    assert "<li>The options or contents of Mug changed.</li>" in refused(shopper, form)


@pytest.mark.rule("R-LINK-16")
def test_the_delivery_address(shopper, form):
    twin_of(shopper).fill_details(**{"shipping-line1": "Elsewhere 1"})
    page = refused(shopper, form)
    assert "<li>The delivery address changed.</li>" in page
    assert "billing address changed" not in page


def test_the_billing_address_alone(shopper, mug):
    choose(shopper, mug)
    given = {f"billing-{name}": value for name, value in (("name", "Bo"), ("line1", "Kai 2"), ("postal_code", "25813"))}
    given |= {"billing-city": "Husum", "billing-country": "DE"}
    given = {name: value for name, value in details(**given).items() if name != "same"}
    shopper.post("/checkout", given)
    form = shopper.payment_fields()
    assert twin_of(shopper).post("/checkout", given | {"billing-name": "Mallory"}).status_code == 303
    page = refused(shopper, form)
    assert "<li>The billing address changed.</li>" in page
    assert "delivery address changed" not in page


@pytest.mark.parametrize(("field", "says"), [("email", "email address"), ("phone", "phone number")])
def test_the_contact(shopper, form, field, says):
    given = {"email": "other@example.com"} if field == "email" else {"phone": "0431 9"}
    twin_of(shopper).fill_details(**given)
    assert f"<li>The {says} changed.</li>" in refused(shopper, form)


@pytest.mark.rule("R-LINK-16")
def test_the_delivery_and_its_price(shop, shopper, mug):
    rates = [make_rate(shop, name) for name in ("Parcel", "Bicycle")]
    choose(shopper, mug)
    shopper.fill_details()
    shopper.choose_delivery(str(rates[0].pk))
    form = shopper.payment_fields()
    twin_of(shopper).choose_delivery(str(rates[1].pk))
    page = shopper.post("/checkout/payment", form)
    assert "<li>The delivery changed from Parcel to Bicycle.</li>" in page.content.decode()
    form = shopper.payment_fields()
    ShippingRate.objects.filter(pk=rates[1].pk).update(price="5.90")
    assert "<li>The delivery Bicycle changed from €4.90 to €5.90.</li>" in refused(shopper, form)


@pytest.mark.rule("R-LINK-16")
def test_a_tax_within_the_same_total(shop, shopper, mug, form):
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent="19")
    shop.prices_include_tax = True
    shop.save()
    page = refused(shopper, form)
    assert "The tax VAT 19% (€0.80) was added." in page


def test_discounts_that_change_names_within_the_same_total(shop, shopper, mug):
    discount = Discount.objects.create(shop=shop, name="Autumn", kind="amount", value=Decimal("2.00"))
    choose(shopper, mug)
    shopper.fill_details()
    form = shopper.payment_fields()
    discount.name = "Winter"
    discount.save()
    page = refused(shopper, form)
    assert "<li>The discount Winter (€2.00) was added.</li>" in page
    assert "<li>The discount Autumn (€2.00) was removed.</li>" in page


@pytest.mark.rule("R-LINK-16")
@pytest.mark.parametrize("tampered", ["", "nonsense", "a:b:c", None])
def test_form_without_a_summary_places_no_order(shopper, mug, gateway, tampered):
    choose(shopper, mug)
    shopper.fill_details()
    form = shopper.payment_fields("demo")
    changed = {name: value for name, value in form.items() if name != "shown"}
    page = refused(shopper, changed if tampered is None else changed | {"shown": tampered})
    assert "<li>" not in page.split(CHANGED)[1].split("</div>")[0]
    assert len(gateway.started) == 1


def test_altered_summary_is_refused(shopper, form):
    for place in (0, len(form["shown"]) // 2, len(form["shown"]) - 1):
        old = form["shown"][place]
        altered = form["shown"][:place] + ("A" if old != "A" else "B") + form["shown"][place + 1 :]
        assert shopper.post("/checkout/payment", form | {"shown": altered}).status_code == 422
    assert not Order.objects.exists()


def test_summary_of_another_checkout_is_refused(shop, shopper, mug, form):
    other = Shopper(shop)
    choose(other, mug)
    other.fill_details()
    assert other.post("/checkout/payment", other.payment_fields() | {"shown": form["shown"]}).status_code == 422
    assert not Order.objects.exists()


def test_summary_is_valid_after_a_key_rotation(shopper, mug):
    old, new = "o" * 50, "n" * 50
    with override_settings(SECRET_KEY=old):
        choose(shopper, mug)
        shopper.fill_details()
        form = shopper.payment_fields()
    with override_settings(SECRET_KEY=new, SECRET_KEY_FALLBACKS=[old]):
        assert shopper.post("/checkout/payment", form).status_code == 303


def test_summary_contains_no_more_than_the_page(shopper, form):
    from django.core import signing

    public_id = Checkout.objects.get().public_id
    kept = str(signing.loads(form["shown"], salt=f"storefront.checkout.shown:{public_id}"))
    for text in ("ada@example.com", "Ada Lovelace", "24103"):
        assert text not in kept


def test_a_mistake_in_the_form_does_not_hide_what_changed(shopper, mug):
    choose(shopper, mug)
    shopper.fill_details()
    form = shopper.payment_fields("demo", number="1234")
    Product.objects.filter(pk=mug.pk).update(price=Decimal("6.00"))
    page = shopper.post("/checkout/payment", form).content.decode()
    assert "The price of Mug changed from €5.00 to €6.00." in page


def test_what_is_paid_is_what_is_ordered_whatever_changes_while_the_card_is_asked(shopper, mug, gateway, monkeypatch):
    choose(shopper, mug)
    shopper.fill_details()
    form = shopper.payment_fields("demo")
    tab, start = twin_of(shopper), gateway.start

    def swap_and_start(charge):
        tab.fill_details(**{"shipping-line1": "Elsewhere 1"})
        tab.post("/basket/add", {"product": mug.pk, "qty": "1"})
        Product.objects.filter(pk=mug.pk).update(price=Decimal("9.00"), name="Cup")
        return start(charge)

    monkeypatch.setattr(gateway, "start", swap_and_start)
    assert shopper.post("/checkout/payment", form).status_code == 303
    order = Order.objects.get()
    assert order.shipping_address["line1"] == "Hafenstraße 1"
    assert [(line.name, line.qty, line.unit_price) for line in order.lines.all()] == [("Mug", 1, Decimal("5.00"))]
    assert order.total == Payment.objects.get().captured == Decimal("5.00")
    # What came into the basket meanwhile stays in it.
    assert [line.qty for line in CartLine.objects.all()] == [1]


def test_another_device_of_the_customer_changes_the_goods(shop, shopper, mug, pot):
    make_customer(shop)
    phone = Shopper(shop)
    for device in (shopper, phone):
        device.sign_in()
    choose(shopper, mug)
    shopper.fill_details()
    form = shopper.payment_fields()
    phone.post("/basket/update", {"key": f"p{mug.pk}", "qty": 0})
    choose(phone, pot)
    page = refused(shopper, form)
    assert "<li>Pot was added.</li>" in page


def test_two_devices_of_a_customer_share_the_basket_and_not_what_is_typed(shop, shopper, mug):
    make_customer(shop)
    phone = Shopper(shop)
    for device in (shopper, phone):
        device.sign_in()
    choose(shopper, mug)
    shopper.fill_details(email="laptop@example.com", **{"shipping-line1": "Laptop 1"})
    phone.fill_details(email="phone@example.com", **{"shipping-line1": "Phone 1"})
    assert "phone@example.com" not in shopper.get("/checkout/payment").content.decode()
    assert "laptop@example.com" not in phone.get("/checkout").content.decode()
    forms = shopper.payment_fields(), phone.payment_fields()
    placed = shopper.post("/checkout/payment", forms[0])
    assert Order.objects.get().email == "laptop@example.com"
    answer = phone.post("/checkout/payment", forms[1], follow=True)
    assert answer.redirect_chain[-1][0] == "/basket"
    assert "Your basket is empty, so no order was placed." in answer.content.decode()
    assert Order.objects.count() == 1
    # The device that placed the order still finds it.
    assert shopper.post("/checkout/payment", forms[0])["Location"] == placed["Location"]


def test_checkout_is_visible_only_to_the_same_customer(shop, shopper, mug):
    make_customer(shop)
    shopper.sign_in()
    choose(shopper, mug)
    shopper.fill_details(email="typed@example.com")
    shopper.post("/account/sign-out", {})
    shopper.sign_in()
    assert "typed@example.com" in shopper.get("/checkout").content.decode()
    make_customer(shop, email="bo@example.com")
    shopper.post("/account/sign-out", {})
    shopper.sign_in("bo@example.com")
    choose(shopper, mug)
    assert "typed@example.com" not in shopper.get("/checkout").content.decode()


def test_checkout_without_owner_is_never_found(shop, shopper, mug):
    choose(shopper, mug)
    cart = Cart.objects.get()
    times = {"created_at": cart.created_at, "updated_at": cart.created_at}
    left = Checkout.objects.create(shop=shop, cart=cart, email="left@example.com", shipping_address=ADDRESS, **times)
    assert "left@example.com" not in shopper.get("/checkout").content.decode()
    assert shopper.get("/checkout/payment")["Location"] == "/checkout"
    left.order = make_order(shop, sale_line(mug))
    left.save()
    assert shopper.post("/checkout/payment", {"checkout": str(left.public_id)})["Location"] == "/checkout"


@pytest.mark.django_db(transaction=True)
def test_details_sent_twice_at_once_are_one_checkout(shop, shopper, mug):
    choose(shopper, mug)
    shopper.order()
    choose(shopper, mug)
    tabs = [twin_of(shopper) for _ in range(4)]
    assert run_concurrently(*(lambda tab=tab: tab.fill_details().status_code for tab in tabs)) == [303] * 4
    assert Checkout.objects.filter(order=None).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_devices_that_order_one_basket_at_once_sell_it_once(shop, mug, gateway):
    make_customer(shop)
    devices = [Shopper(shop) for _ in range(4)]
    for device in devices:
        device.sign_in()
    choose(devices[0], mug, 2)
    forms = []
    for device in devices:
        device.fill_details()
        forms.append(device.payment_fields("demo"))
    pairs = zip(devices, forms, strict=True)

    answers = run_concurrently(*(lambda d=device, f=form: d.post("/checkout/payment", f) for device, form in pairs))

    order = Order.objects.get()
    led_to = [answer.get("Location") for answer in answers]
    assert led_to.count(f"/orders/{order.public_id}") >= 1
    # Others came too late for the basket, or are told that it is being paid for.
    others = {answer["Location"] if answer.status_code == 303 else answer.status_code for answer in answers}
    assert others <= {f"/orders/{order.public_id}", "/basket", 409}
    assert order.lines.get().qty == 2
    assert len(gateway.captured) == 1


@pytest.mark.django_db(transaction=True)
def test_an_address_changed_while_placing_is_in_the_order_or_refused(shop, api, mug):
    for turn in range(4):
        shopper = Shopper(shop)
        shopper.arrive(link_to(api, fill_cart(api, {"product_id": mug.pk})))
        shopper.fill_details()
        form, tab = shopper.payment_fields(), twin_of(shopper)

        placed, _ = run_concurrently(
            lambda shopper=shopper, form=form: shopper.post("/checkout/payment", form).status_code,
            lambda tab=tab: tab.fill_details(**{"shipping-line1": "Elsewhere 1"}).status_code,
        )

        assert placed in (303, 422), turn
        lines = {address["line1"] for address in Order.objects.values_list("shipping_address", flat=True)}
        assert lines <= {"Hafenstraße 1"}


def test_a_basket_that_is_empty_by_then_is_refused_by_the_action_too(shop, shopper, mug, form):
    checkout = Checkout.objects.get()
    now = checkout.created_at
    quote = queries.quote(shop, checkout.cart, checkout, now)
    agreed = actions.summarise(shop, checkout, quote)
    checkout.cart.lines.all().delete()
    with pytest.raises(actions.NothingToBuy):
        actions.press_pay(
            shop=shop, checkout=checkout, quote=quote, provider=None, given={}, agreed=agreed, shopper_note="", now=now
        )
