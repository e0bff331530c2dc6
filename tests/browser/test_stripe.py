"""Paying through Stripe: the shop's pages, Stripe's form (a stand-in's) and the bank's page in a real browser."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from storefront.catalogue.models import Product
from storefront.orders.models import Order
from storefront.payments.models import Payment, ProviderAccount
from tests.browser import steps
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_accessibility import check
from tests.catalogue.factories import make_product
from tests.server.programs import wait_until
from tests.staff import admin_url, make_staff
from tests.stripe.conftest import fake, stripe_process  # noqa: F401 - fixtures
from tests.stripe.selling import books_agree, offer_stripe, run_worker

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_hosts")]

PAYS, DECLINED, ASKS = "4242 4242 4242 4242", "4000 0000 0000 0002", "4000 0025 0000 3155"


@pytest.fixture
def shop(street, fake):  # noqa: F811
    offer_stripe(street)
    make_product(street, "Mug", price="9.50", stock_qty=9)
    return street


@pytest.fixture
def buy(buy_from, shop):
    return buy_from


@pytest.fixture
def buy_from(visit):
    """Go to the payment step of a mug, in a new browser."""

    def go(width: int = WIDE, expects: int = 0):
        shopper = visit(width)
        shopper.expects = {expects}
        page = shopper.open("/products/mug")
        page.get_by_role("button", name="Add to basket").click()
        expect(page.locator("#basket-link")).to_contain_text("1")
        page.goto(f"{shopper.address}/basket")
        steps.click_through(page, "link", "Go to checkout")
        steps.fill_details(page)
        steps.choose_delivery(page)
        page.get_by_role("radio", name="Card, wallet or bank").check()
        page.get_by_role("button", name="Place order and pay").click()
        page.wait_for_url("**/checkout/payment/*")
        return shopper

    return go


def pay(page, number: str = "", method: str = "Card") -> None:
    form = page.frame_locator("iframe")
    form.get_by_role("radio", name=method).check()
    form.get_by_label("Number").fill(number)
    page.get_by_role("button", name="Pay €14.40").click()


def sign_in(merchant, settings):
    page = merchant.open(f"http://{settings.ADMIN_HOST}/admin/")
    page.get_by_label("Email address").fill("anna")
    page.get_by_label("Password").fill("lighthouse-1")
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    return page


def check_connection(page) -> None:
    if page.viewport_size["width"] < WIDE:
        page.get_by_text("more_horiz").click()
    page.get_by_role("link", name="Check the connection").click()
    page.get_by_role("button", name="Check", exact=True).click()


def sold() -> int:
    return 9 - Product.objects.get().stock_qty


@pytest.mark.walk
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_new_shop_is_set_up_in_the_admin_and_sells(street, visit, buy_from, fake, settings, width):  # noqa: F811
    make_product(street, "Mug", price="9.50", stock_qty=9)
    make_staff(street, role="owner")
    merchant = visit(width)
    page = sign_in(merchant, settings)
    desk = f"http://{settings.ADMIN_HOST}"

    page.goto(desk + admin_url(ProviderAccount, "add"))
    page.get_by_label("Provider").select_option(label="Stripe: card, wallet or bank")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_label("Publishable key").fill("pk_test_51Fake")
    page.get_by_label("Secret key").fill("sk_test_51Wrong")
    page.get_by_label("Webhook signing secret").fill("whsec_fake")
    merchant.photograph("stripe-settings")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(desk + admin_url(ProviderAccount.objects.get(), "change"))
    news = page.get_by_text("/payments/stripe/news").inner_text()
    check_connection(page)
    expect(page.get_by_text("Stripe does not know the secret key.")).to_be_visible()
    merchant.photograph("stripe-wrong-key")
    expect(page.get_by_label("Secret key")).to_have_value("")

    page.get_by_label("Secret key").fill("sk_test_51Fake")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(desk + admin_url(ProviderAccount.objects.get(), "change"))
    fake("subscribe", url=news, events=["*"])
    check_connection(page)
    expect(page.get_by_text("The connection works.")).to_be_visible()
    merchant.photograph("stripe-connected")
    page.goto(desk + admin_url(street, "change"))
    page.get_by_role("checkbox", name="Stripe: card, wallet or bank").check()
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.get_by_text("” saved.")).to_be_visible()

    fake("configure", endpoint={"url": news, "secret": "whsec_fake"})
    shopper = buy_from(width)
    pay(shopper.page, PAYS)
    steps.expect_order(shopper.page, "€14.40")
    wait_until(lambda: {each["status"] for each in fake("seen")["deliveries"]} == {200}, what="the events")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_is_declined_and_pays_with_another_card(buy, fake, width):  # noqa: F811
    shopper = buy(width, expects=402)
    page = shopper.page
    expect(page.get_by_text("Test mode")).to_be_visible()
    expect(page.get_by_role("button", name="Pay €14.40")).to_be_enabled()
    shopper.photograph("stripe-step")
    check(shopper)

    pay(page, DECLINED)
    expect(page.get_by_text("Your card was declined.")).to_be_visible()
    shopper.photograph("stripe-declined")
    check(shopper)
    assert Order.objects.count() == 0

    pay(page, PAYS)
    steps.expect_order(page, "€14.40")
    shopper.photograph("stripe-confirmation")
    payment = Payment.objects.get()
    assert (payment.state, payment.order.payment_status) == ("paid", "paid")
    assert payment.method == "Visa •••• 4242"
    assert books_agree(payment, fake.intent())
    assert sold() == 1


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_passes_three_d_secure_at_the_second_try(buy, width):
    shopper = buy(width)
    page = shopper.page

    pay(page, ASKS)
    page.get_by_role("button", name="Fail").click()
    expect(page.get_by_text("Your bank could not confirm that it is you.")).to_be_visible()
    shopper.photograph("stripe-not-confirmed")
    assert Order.objects.count() == 0

    page.get_by_role("link", name="Continue to pay").click()
    pay(page, ASKS)
    page.get_by_role("button", name="Complete").click()
    steps.expect_order(page, "€14.40")


def test_pays_by_a_method_that_redirects(buy):
    page = buy().page

    pay(page, method="iDEAL")
    page.get_by_role("button", name="Complete").click()

    steps.expect_order(page, "€14.40")
    assert Payment.objects.get().method == "iDEAL"


def test_a_debit_is_checked_until_it_arrives(buy, fake):  # noqa: F811
    shopper = buy()
    page = shopper.page

    pay(page, "DE89370400440532013000", method="SEPA")
    expect(page.get_by_role("heading", name="Your payment is being checked")).to_be_visible()
    shopper.photograph("stripe-checked")
    assert Order.objects.count() == 0

    fake("act", verb="finish", intent=fake.intent()["id"])
    steps.expect_order(page, "€14.40")


def test_a_closed_tab_still_gets_its_order(buy, fake):  # noqa: F811
    shopper = buy()
    pay(shopper.page, ASKS)
    expect(shopper.page.get_by_role("button", name="Complete")).to_be_visible()
    shopper.page.close()
    fake("act", verb="authorise", intent=fake.intent()["id"])

    run_worker(after=timedelta(minutes=2))

    assert Order.objects.get().payment_status == "paid"
    # The shopper comes back.
    shopper.page = shopper.context.new_page()
    page = shopper.open(f"{shopper.address}/basket")
    expect(page.locator("#basket-link")).to_contain_text("0")


def test_coming_back_to_the_step_after_paying_shows_the_order(buy):
    page = buy().page
    step = page.url
    pay(page, PAYS)
    steps.expect_order(page, "€14.40")

    page.goto(step)

    steps.expect_order(page, "€14.40")
    assert Order.objects.count() == 1


def test_a_refund_in_the_admin_arrives_and_a_dispute_shows(buy, visit, shop, fake, settings):  # noqa: F811
    page = buy().page
    pay(page, PAYS)
    steps.expect_order(page, "€14.40")
    order = Order.objects.get()
    make_staff(shop, role="manager")
    merchant = visit()
    desk = sign_in(merchant, settings)

    desk.goto(f"http://{settings.ADMIN_HOST}{admin_url(order, 'change')}")
    desk.get_by_role("button", name="Refund").click()
    dialog = desk.locator("#modal-content")
    dialog.get_by_label("Amount").fill("4.00")
    dialog.get_by_role("button", name="Refund").click()
    expect(desk.get_by_text("Refund started.")).to_be_visible()
    run_worker()
    assert [each["amount"] for each in fake.objects("refund")] == [400]

    payment = Payment.objects.get()
    fake("act", verb="dispute", intent=payment.reference)
    Payment.objects.update(due_at=payment.created_at)
    run_worker()
    desk.reload()
    expect(desk.get_by_text("Partially refunded").first).to_be_visible()
    expect(desk.get_by_text("dispute: Needs response (fraudulent)")).to_be_visible()
    merchant.photograph("stripe-order-desk")


def test_without_scripts_the_shopper_is_told_what_to_do(visit, shop):
    shopper = visit(java_script_enabled=False)
    page = shopper.open("/products/mug")
    steps.click_through(page, "button", "Add to basket")
    page.goto(f"{shopper.address}/basket")
    steps.click_through(page, "link", "Go to checkout")
    steps.fill_details(page)
    steps.choose_delivery(page)
    page.get_by_role("radio", name="Card, wallet or bank").check()
    steps.click_through(page, "button", "Place order and pay €14.40")

    expect(page.get_by_text("turn on JavaScript in your browser")).to_be_visible()
    expect(page.get_by_role("button", name="Pay €14.40")).to_be_hidden()
    expect(page.get_by_role("button", name="Choose another payment method")).to_be_visible()
    shopper.photograph("stripe-without-scripts")
    steps.click_through(page, "button", "Choose another payment method")
    expect(page.get_by_role("radio", name="Card, wallet or bank")).to_be_visible()
    assert sold() == 0


def test_a_form_that_does_not_load_is_told(buy, settings):
    settings.STRIPE_SCRIPT = settings.STRIPE_SCRIPT.replace("stripe.js", "missing.js")
    shopper = buy(expects=404)

    expect(shopper.page.get_by_text("The payment form could not be loaded.")).to_be_visible()
