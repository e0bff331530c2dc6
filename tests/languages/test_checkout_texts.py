"""From the basket to the invoice, every text is marked for translation: under the pseudo-language, no word of ours is
outside of brackets. What merchants and shoppers write is in brackets of its own."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.utils import translation

from storefront.checkout.models import Checkout
from storefront.documents.drawing import pdf_of
from storefront.documents.mails import document_mail
from storefront.gift_cards.codes import for_people, normal_code
from storefront.gift_cards.jobs import gift_card_mail
from storefront.orders import jobs
from storefront.orders.download_links import download_token
from storefront.orders.fulfilling import Tracking, fulfil_order
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.models import Payment
from storefront.payments.providers.base import DECLINED as DECLINED_WORDS
from storefront.payments.providers.base import TRY_ANOTHER, failure_words
from storefront.payments.providers.demo import Demo
from storefront.payments.providers.stripe_words import decline_words
from storefront.pricing.models import TaxRate
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import DECLINED, Shopper, details, hidden_value
from tests.documents.factories import issued, make_settings, refund, texts_of, work
from tests.gift_cards.factories import make_card
from tests.languages import pseudo
from tests.languages.pseudo import bare_lines, bare_words, shown
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file
from tests.pricing.rows import make_code, make_place, make_rate
from tests.shops.factories import NOW

# Names of countries and months come from Babel, and codes and addresses from the shopper.
GIVEN = {"Germany", "Deutschland", "Nov", "SPRING", "ATU", "KB", "bytes"}
SPOKEN = {name: shown(text) for name, text in ADDRESS.items() if name in ("name", "line1", "city")}
SHIPPING = {f"shipping-{name}": text for name, text in SPOKEN.items()}
BILLING = {f"billing-{name}": text for name, text in (ADDRESS | SPOKEN).items()}

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def spoken():
    with pseudo.pseudo("de"):
        yield


@pytest.fixture
def shop(shop):
    """A shop whose further language is German, which is the pseudo-language."""
    shop.name, shop.further_languages = shown("Lighthouse"), ["de"]
    shop.manual_payment_instructions = ""
    shop.save()
    TaxRate.objects.create(shop=shop, name=shown("VAT"), country="DE", percent=19)
    return shop


@pytest.fixture
def mug(shop):
    return make_product(shop, shown("Mug"), slug="mug", stock_qty=50)


@pytest.fixture
def shopper(shop, api, mug):
    """A shopper on the shop's German pages, with a mug in the basket."""
    shopper = Shopper(shop)
    shopper.bring(api, {"product_id": mug.pk, "qty": 2})
    return shopper


def bare(answer, *allowed: str) -> list[str]:
    """The texts of the page's own part that have words outside of brackets, and its title's."""
    page = answer.content.decode()
    (main,) = re.findall(r"<main.*</main>", page, re.DOTALL)
    (title,) = re.findall(r"<title>.*</title>", page)
    # Names of countries come from Babel, and the end of a gift card's code from chance.
    main = re.sub(r"<select[^>]*country.*?</select>|…\w{4}", "", main, flags=re.DOTALL)
    return bare_words(title + main, GIVEN | set(allowed))


def payment_fields(page, method="manual", **given) -> dict[str, str]:
    hidden = {name: hidden_value(page, name) for name in ("checkout", "shown")}
    return {"method": method, "note": shown("Hello"), **hidden, **given}


def test_details(shop, shopper):
    make_rate(shop, shown("Parcel"), countries=["DE"])
    make_place(shop, shown("Harbour"), line1=shown("Am Kai"), city=shown("Hamburg"))
    shop.asks_vat_id = True
    shop.save()
    page = shopper.get("/de/checkout")
    assert (page.status_code, bare(page)) == (200, [])
    wrong = {"email": "ada", "shipping-line1": "", "vat_id": "DE1", "shipping-name": "ada@example.com"}
    page = shopper.post("/de/checkout", details(**SHIPPING) | wrong)
    assert (page.status_code, bare(page)) == (422, [])


def test_delivery(shop, shopper):
    make_rate(shop, shown("Parcel"), countries=["DE"])
    make_rate(shop, shown("Express"), "0.00", countries=["DE"])
    shopper.post("/de/checkout", details(**SHIPPING))
    page = shopper.get("/de/checkout/delivery")
    assert (page.status_code, bare(page)) == (200, [])
    assert bare(shopper.post("/de/checkout/delivery", {})) == []
    make_rate(shop, shown("Island"), countries=["FR"])
    Checkout.objects.update(shipping_address=ADDRESS | SPOKEN | {"country": "PL"})
    page = shopper.get("/de/checkout/delivery")
    assert bare(page, "Poland", "Polen") == []
    assert shown("We cannot deliver this order to this address.") in page.content.decode()


def test_payment_with_codes_and_gift_cards(shop, shopper):
    make_code(shop, "SPRING", name=shown("Spring"))
    _, code = make_card(shop, "5.00")
    shopper.post("/de/checkout", details(**SHIPPING))
    for name, path in (("code", "discount-codes"), ("gift_card", "gift-cards")):
        for entered in ("NOSUCHCODE", "SPRING" if name == "code" else code):
            shopper.post(f"/de/checkout/{path}", {name: entered})
    page = shopper.get("/de/checkout/payment")
    assert (page.status_code, bare(page)) == (200, [])
    # Nothing is chosen.
    page = shopper.post("/de/checkout/payment", payment_fields(page, ""))
    assert (page.status_code, bare(page)) == (422, [])


def test_refused_payments(shop, shopper, mug):
    shopper.post("/de/checkout", details(**SHIPPING))
    first = shopper.get("/de/checkout/payment")
    card = {"number": DECLINED, "expiry": "12/34", "cvc": "123"}
    page = shopper.post("/de/checkout/payment", payment_fields(first, "demo", **card))
    assert (page.status_code, bare(page)) == (422, [])
    assert "declined" in page.content.decode()
    page = shopper.post("/de/checkout/payment", payment_fields(page, "demo", **card | {"number": "1", "expiry": "x"}))
    assert (page.status_code, bare(page)) == (422, [])
    # The price changes between the page and the click.
    mug.price = Decimal("10.50")
    mug.save()
    page = shopper.post("/de/checkout/payment", payment_fields(first))
    assert (page.status_code, bare(page)) == (422, [])
    mug.stock_qty = 1
    mug.save()
    basket = shopper.get("/de/checkout", follow=True).content.decode()
    messages = re.findall(r'<div id="messages".*?</div>', basket, re.DOTALL)
    assert bare_words("".join(messages)) == []
    assert shown("Please change your basket to continue.") in messages[0]


def test_confirmation(shop, shopper):
    shopper.post("/de/checkout", details(**SHIPPING))
    page = shopper.get("/de/checkout/payment")
    placed = shopper.post("/de/checkout/payment", payment_fields(page))
    page = shopper.get(placed["Location"])
    assert (page.status_code, bare(page)) == (200, [])
    # What the order keeps of the page is in the page's language.
    assert Order.objects.get().shipping_method == shown("Delivery")


@pytest.mark.parametrize("state", ["paid", "sent", "refunded", "cancelled"])
def test_the_page_of_an_order(shop, order, state):
    make_settings(shop)
    if state != "cancelled":
        payments.mark_paid(shop=shop, order=order, now=NOW)
        work()
    if state == "sent":
        fulfil_order(shop=shop, order=order, now=NOW)
    if state == "refunded":
        refund(order, "1.00")
    if state == "cancelled":
        payments.cancel_order(shop=shop, order=order, now=NOW)
    with time_machine.travel(NOW, tick=False):
        page = Shopper(shop).get(f"/de/orders/{order.public_id}")
    assert (page.status_code, bare(page)) == (200, [])


def test_the_question_whose_order_it_is(shop, order):
    shopper = Shopper(shop)
    page = shopper.get(f"/de/orders/{order.public_id}")
    assert (page.status_code, bare(page)) == (403, [])
    page = shopper.post(f"/de/orders/{order.public_id}/e-mail", {"email": "bo@example.com"})
    assert (page.status_code, bare(page)) == (422, [])


def test_a_link_that_does_not_work(shop):
    page = Shopper(shop).get("/de/cart/resume?cart=1")
    assert (page.status_code, bare(page)) == (403, [])


@pytest.mark.parametrize("state", ["unpaid", "withdrawn", "expired", "used_up"])
def test_a_file_that_cannot_be_downloaded(shop, state):
    book = make_product(shop, shown("Book"), slug="book", type="digital", max_downloads=1, download_expiry_days=1)
    add_file(book, "book.pdf", shown=shown("Book"))
    order = make_order(shop, sale_line(book), shipping_address=None, billing_address=ADDRESS | SPOKEN)
    download = order.downloads.get()
    if state != "unpaid":
        payments.mark_paid(shop=shop, order=order, now=NOW)
    if state == "withdrawn":
        payments.cancel_order(shop=shop, order=order, now=NOW)
    if state == "used_up":
        order.downloads.update(used=1)
    with time_machine.travel(NOW + timedelta(days=3 if state == "expired" else 0), tick=False):
        shopper = Shopper(shop)
        shopper.post(f"/de/orders/{order.public_id}/e-mail", {"email": order.email})
        page = shopper.get(f"/de/downloads/{download_token(download)}")
        assert (page.status_code, bare(page)) == (403 if state == "unpaid" else 410, [])
        assert bare(shopper.get(f"/de/orders/{order.public_id}")) == []


@pytest.mark.parametrize(
    "failure", [f"{DECLINED_WORDS} {TRY_ANOTHER}", *Demo.DECLINES.values(), decline_words("expired_card"), ""]
)
def test_the_stored_reason_of_a_failed_payment(failure):
    """It is stored in English, whatever page it failed on."""
    assert "⟦" not in failure
    with translation.override("de"):
        assert bare_lines(failure_words(failure)) == []


def test_gift_card_page(shop):
    _, code = make_card(shop)
    shopper = Shopper(shop)
    assert bare(shopper.get("/de/gift-card")) == []
    assert bare(shopper.post("/de/gift-card", {"gift_card": ""})) == []
    assert bare(shopper.post("/de/gift-card", {"gift_card": "NOSUCHCODE"})) == []
    page = shopper.post("/de/gift-card", {"gift_card": code})
    assert (page.status_code, bare(page)) == (200, [for_people(normal_code(code))])


@pytest.fixture
def german(shop):
    """The language of mails and papers, whatever language the worker has."""
    shop.language, shop.further_languages = "de", []
    shop.save()
    with translation.override("de"):
        yield


@pytest.fixture
def order(shop, mug) -> Order:
    """Two mugs with delivery, taxed, with a discount that has a code."""
    return make_order(
        shop,
        sale_line(mug, 2),
        shipping_address=ADDRESS | SPOKEN,
        billing_address=ADDRESS | SPOKEN,
        shipping=Decimal("4.90"),
        shipping_method=shown("Parcel"),
        delivery_time=shown("2 days"),
        discount_lines=[{"name": shown("Spring"), "code": "SPRING", "amount": "0.00"}],
        tax=Decimal("3.82"),
        tax_lines=[{"name": shown("VAT"), "percent": "19", "base": "20.08", "amount": "3.82", "treatment": "taxed"}],
        total=Decimal("23.90"),
    )


def mails_about(order: Order) -> list:
    """Every mail about an order, from its placing to its refund."""
    shop = order.shop
    mails = [jobs.confirmation_mail(order), jobs.change_mail(order, "cancelled")]
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    order.refresh_from_db()
    mails += [jobs.confirmation_mail(order), jobs.change_mail(order, "paid"), jobs.change_mail(order, "cancelled")]
    tracking = Tracking(shown("Swift"), "", "https://swift.example.com/1")
    fulfilment = fulfil_order(shop=shop, order=order, tracking=tracking, now=NOW)
    mails.append(jobs.fulfilment_mail(fulfilment))
    made = refund(order, "4.90")
    work()
    mails.append(jobs.change_mail(order, "refunded", amount=Decimal("4.90"), refunds=[made.pk]))
    mails += [document_mail(document) for document in issued(order)]
    return mails


@pytest.mark.usefixtures("german")
def test_mails(shop, order):
    make_settings(shop)
    bodies = [mail.body for mail in mails_about(order)]
    assert len(bodies) == 9
    assert [bare_lines(body, GIVEN) for body in bodies] == [[]] * 9


@pytest.mark.usefixtures("german")
def test_the_mail_with_a_gift_card(shop):
    card, code = make_card(shop, email="bo@example.com", message=shown("All the best!"))
    body = gift_card_mail(card, code).body
    assert bare_lines(body.replace(code, ""), GIVEN) == []


LINE = {"name": "‹Mug›", "sku": "", "details": ["‹Gold›"], "qty": 2, "unit_price": "9.50", "total": "19.00"}
SELLER = {"name": "‹Lighthouse›", "shop": "‹Lighthouse›", "address": ["‹Am Kai›"], "vat_id": "1", "email": ""}
PAPER = {
    "language": "de",
    "page": "a4",
    "number": "2026-1",
    "issued_on": "2026-11-23",
    "order_number": 1001,
    "ordered_on": "2026-11-22",
    "currency": "EUR",
    "tax_included": True,
    "seller": SELLER | {"registration": [], "bank": []},
    "ship_to": ["‹Ada›"],
}
INVOICE = PAPER | {
    "kind": "invoice",
    "replaces": "2026-0",
    "buyer": ["‹Bo›"],
    "buyer_vat_id": "2",
    "lines": [LINE | {"sku": "1", "rates": ["19%"]}],
    "subtotal": "19.00",
    "discounts": [{"name": "‹Spring›", "amount": "0.00"}],
    "delivery": {"name": "‹Parcel›", "amount": "4.90"},
    "taxes": [
        {"name": "‹VAT›", "percent": "19", "amount": "3.02", "base": "15.88"},
        {"name": "‹Old›", "percent": "7", "amount": "1.00"},
    ],
    "total": "18.90",
    "net": "15.88",
    "payments": [{"name": "‹Card›", "amount": "18.90"}],
    "footer": "",
    "notes": [],
}
NET = INVOICE | {"tax_included": False, "replaces": ""}
CREDIT_NOTE = INVOICE | {"kind": "credit_note", "invoice": {"number": "2026-1", "issued_on": "2026-11-23"}}
SLIP = PAPER | {
    "kind": "packing_slip",
    "method": "‹Parcel›",
    "phone": "",
    "note": "‹Ring twice.›",
    "is_cancelled": True,
    "lines": [LINE | {"ordered": 5}],
}


@pytest.fixture
def printable(monkeypatch):
    """Brackets that the font of papers has."""
    monkeypatch.setattr(pseudo, "OPENING", "‹")
    monkeypatch.setattr(pseudo, "CLOSING", "›")


@pytest.mark.parametrize("record", [INVOICE, NET, CREDIT_NOTE, SLIP], ids=["invoice", "net", "credit note", "slip"])
@pytest.mark.parametrize("lines", [1, 60], ids=["one page", "several pages"])
def test_papers_are_drawn_in_the_language_of_their_records(printable, record, lines):
    text = "\n".join(texts_of(pdf_of([record | {"lines": record["lines"] * lines}])))
    assert bare_lines(text, GIVEN) == []
    plain = texts_of(pdf_of([{name: value for name, value in record.items() if name != "language"}]))[0]
    assert "‹Date›" not in plain
    assert "Order date" in plain


@pytest.mark.usefixtures("german", "printable")
def test_what_is_written_into_records(shop, order):
    make_settings(shop)
    order.tax_lines = [{"name": "‹VAT›", "percent": "0", "amount": "0.00", "treatment": "reverse_charge"}]
    order.save()
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    refund(order, "1.00")
    work()
    payments.cancel_order(shop=shop, order=order, now=NOW)
    work()
    invoice, *notes = [document.record for document in issued(order)]
    assert len(notes) == 2
    written = [*invoice["notes"], *(line["name"] for note in notes for line in note["lines"])]
    written += [paid["name"] for paid in invoice["payments"]]
    assert len(written) == 4
    assert [text for text in written if not text.startswith("‹")] == []


def test_why_a_payment_failed_is_shown_in_german_and_stored_in_english(shop, shopper):
    shopper.post("/de/checkout", details(**SHIPPING))
    page = shopper.get("/de/checkout/payment")
    card = {"number": DECLINED, "expiry": "12/34", "cvc": "123"}
    page = shopper.post("/de/checkout/payment", payment_fields(page, "demo", **card))
    words = "The card was declined. Nothing was charged. Please try another card."
    assert shown(words) in page.content.decode()
    assert Payment.objects.get().failure == words


def test_the_api_answers_in_english_after_a_german_page(shop, shopper, api, mug):
    """A page's language ends with the page, and refusals are worded when they are raised."""
    shopper.get("/de/checkout")
    answer = api.post("/cart", {"product_id": mug.pk, "qty": 51}).json()
    text = f"Not enough stock of {mug.name}. Only 50 more available."
    assert (answer["message"], answer["code"]) == (text, "insufficient_stock")
    answer = api.post("/cart", {"product_id": mug.pk, "qty": 1, "is_damaged": True}).json()
    assert answer["errors"] == {"is_damaged": ["This product has no price for damaged units."]}


def test_scripts_of_a_german_page_get_the_names_of_payment_methods_in_german(shop, shopper):
    methods = shopper.get("/de/checkout/payment-methods").json()["payment_methods"]
    assert [each["label"] for each in methods] == [shown("Invoice or bank transfer"), shown("Card (demo)")]
    methods = shopper.get("/checkout/payment-methods").json()["payment_methods"]
    assert [each["label"] for each in methods] == ["Invoice or bank transfer", "Card (demo)"]
