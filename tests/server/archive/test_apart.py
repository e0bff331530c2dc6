"""A copy does not act as its original: by tokens, sessions, codes, mails, webhooks, payments or files."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django.core.files.storage import default_storage

from storefront.catalogue.models import Category, Media, Product
from storefront.content.models import MenuLink, Page
from storefront.gift_cards.jobs import queue_due_cards
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, Refund
from storefront.payments.refunds import request_refund
from storefront.server.verifying import deviations
from storefront.shops.models import ApiToken, Shop, StaffMember
from storefront.staff import closing
from storefront.webhooks.models import Event, Registration
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.gift_cards.factories import balance, make_card
from tests.orders.factories import make_order, sale_line
from tests.payments.conftest import bank as bank
from tests.server.archive.shops import fill
from tests.server.archive.test_copies import COPY, export, run
from tests.shops.factories import NOW, make_token
from tests.staff import make_staff
from tests.webhooks.factories import emit, listener, register

pytestmark = pytest.mark.django_db


@pytest.fixture
def copied(shop, storages):
    """Makes a copy of the shop, and prints what is to be done."""

    def copy() -> tuple[Shop, str]:
        _made, said = run("importshop", export(shop, storages / "shop.zip"), *COPY)
        return Shop.objects.get(domain="copy.example.com"), said

    return copy


def test_its_tokens_apps_and_webhooks_are_the_originals_alone(shop, copied):
    token, app = make_token(shop, "read_products"), listener(shop, "read_orders")
    register(app, "https://app.example.com/hooks")
    emit(shop)
    copy, said = copied()
    assert not ApiToken.objects.filter(shop=copy).exists()
    assert not Registration.objects.filter(shop=copy).exists()
    assert not Event.objects.filter(shop=copy).exists()
    assert ApiClient(token).get("/products").status_code == 200
    assert f"Apps to install again: {app.installation.app.name}." in said
    assert "API tokens to create again: test." in said


@pytest.mark.slow
def test_it_is_closed_and_sends_nothing(shop, copied, client):
    fill(shop)
    card, _code = make_card(shop, email="ada@example.com")
    GiftCard.objects.filter(pk=card.pk).update(send_at=clock.now() - timedelta(days=1))
    Shop.objects.filter(pk=shop.pk).update(proved_sender="us@example.com", allowed_sender="us@example.com")
    copy, said = copied()
    assert (copy.proved_sender, copy.allowed_sender, copy.payment_methods) == ("", "", ["manual"])
    assert copy.languages == ["en", "de", "fr"]
    assert not GiftCard.objects.filter(shop=copy, send_at__isnull=False).exists()
    assert not GiftCard.objects.filter(shop=copy, digest__isnull=False).exists()
    assert queue_due_cards(now=clock.now(), limit=100) == 1, "the original's card alone"
    assert mail.outbox == []
    page = client.get("/", headers={"host": copy.domain})
    assert "Password" in page.content.decode()
    assert "Payment providers whose keys are to be entered again: stripe." in said
    assert "The copy is closed" in said


def test_a_copy_of_a_shop_that_the_operator_closed(shop, copied):
    closing.close_shop(shop=shop, now=NOW)
    copy, said = copied()
    assert not copy.is_active
    assert "The operator had closed the original" in said


def test_staff_are_found_by_their_address(shop, copied):
    owner = make_staff(shop, "owner")
    left = make_staff(shop, "left")
    left.is_active = False
    left.save()
    copy, said = copied()
    assert [(each.user, each.role) for each in StaffMember.objects.filter(shop=copy)] == [(owner, "owner")]
    assert f"Staff to invite, who have no account here: {left.email}." in said


@pytest.mark.slow
def test_open_payments_are_put_back_in_the_copy_and_stay_the_originals(shop, copied, bank):
    shopper, mug = Shopper(shop), make_mug(shop)
    card, code = make_card(shop, "5.00")
    put_into_basket(shopper, mug)
    assert shopper.post("/checkout/gift-cards", {"gift_card": code}).status_code == 303
    shopper.post("/checkout/payment", shopper.payment_fields("bank"))
    draft, calls = OrderDraft.objects.get(), list(bank.calls)
    assert (draft.state, draft.payments.count(), balance(card)) == ("open", 2, 0)
    copy, _said = copied()
    product = copy.products.get()
    assert (product.stock_qty, GiftCard.objects.get(shop=copy).balance) == (50, Decimal("5.00"))
    assert list(OrderDraft.objects.all()) == [draft]
    mug.refresh_from_db()
    assert (mug.stock_qty, balance(card)) == (49, 0)
    assert list(deviations(copy)) == list(deviations(shop)) == []
    bank.pay(next(iter(bank.accounts.values())))
    later = clock.now() + timedelta(days=2)
    ask_providers(now=later, limit=100)
    end_expired_drafts(now=later, limit=100)
    assert [order.shop for order in Order.objects.all()] == [shop]
    assert len(bank.calls) > len(calls), "about the original's"
    assert not Payment.objects.filter(shop=copy, due_at__isnull=False).exists()


@pytest.mark.slow
def test_a_copy_gives_no_money_back(shop, copied, bank):
    """Also when its owner enters the provider's keys again: its payments are of no provider."""
    shopper, mug = Shopper(shop), make_mug(shop)
    put_into_basket(shopper, mug)
    shopper.post("/checkout/payment", shopper.payment_fields("bank"))
    (account,) = bank.accounts.values()
    bank.pay(account)
    ask_providers(now=clock.now() + timedelta(minutes=5), limit=10)
    order = Order.objects.get()
    bank.silent.add("refund")
    refund = request_refund(shop=shop, order=order, amount=Decimal("3.00"), now=clock.now())
    copy, _said = copied()
    bank.silent.clear()
    pay_back_refunds(now=clock.now() + timedelta(days=1), limit=10)
    assert list(account.refunds.values()) == [Decimal("3.00")]
    (other,) = Refund.objects.filter(shop=copy)
    assert (other.status, other.key != refund.key) == ("failed", True)
    assert [payment.gateway for payment in Payment.objects.filter(shop=copy)] == ["bank (original)"]
    assert list(deviations(copy)) == []


@pytest.mark.slow
def test_its_files_are_its_own(shop, copied):
    fill(shop)
    copy, _said = copied()
    first, second = (Media.objects.filter(shop=each).exclude(file="").get() for each in (shop, copy))
    assert first.file.name != second.file.name
    default_storage.delete(second.file.name)
    assert default_storage.exists(first.file.name)
    line = copy.orders.order_by("pk").first().lines.exclude(image=None).first()
    assert line.image == f"https://copy.example.com/media/{second.file.name}"


def test_texts_and_links_lead_to_its_own_files(shop, other_shop, copied):
    """As a whole and exactly: neither files of others nor longer names, and not those of another host."""
    fill(shop)
    old = Media.objects.filter(shop=shop).exclude(file="").get().file.name
    own, there = f"/media/{old}", f"{shop.base_url}/media/{old}"
    kept = (
        f'<img src="/media/{old}.webp"><img src="https://other.example/media/{old}"><img src="/x/media/{old}">'
        '<a href="/media/products/another.png">x</a>'
    )
    text = f'<img src="{own}" srcset="{there} 1x,{own}?w=2 2x"><a href={own}>{there}</a>{kept}'
    mug = shop.products.get(name="Mug")
    translations = {"de": {"description": text}}
    Product.objects.filter(pk=mug.pk).update(description=text, short_description=text, translations=translations)
    Category.objects.filter(shop=shop, name="Cups").update(description=text)
    Page.objects.filter(shop=shop, kind="terms").update(body=text)
    MenuLink.objects.filter(shop=shop).update(link=own)
    copy, _said = copied()
    new = Media.objects.filter(shop=copy).exclude(file="").get().file.name
    assert new != old
    mine, here = f"/media/{new}", f"{copy.base_url}/media/{new}"
    expected = f'<img src="{mine}" srcset="{here} 1x,{mine}?w=2 2x"><a href={mine}>{here}</a>{kept}'
    found = copy.products.get(name="Mug")
    assert (found.description, found.short_description) == (expected, expected)
    assert found.translations == {"de": {"description": expected}}
    assert Category.objects.get(shop=copy, name="Cups").description == expected
    assert Page.objects.get(shop=copy, kind="terms").body == expected
    assert MenuLink.objects.get(shop=copy).link == mine
    mug.refresh_from_db()
    assert mug.description == text


def test_its_orders_can_be_worked_on(shop, copied):
    mug = make_mug(shop)
    mug.refresh_from_db()
    make_order(shop, sale_line(mug, 3))
    copy, _said = copied()
    order = copy.orders.get()
    mark_paid(shop=copy, order=order, now=clock.now())
    assert list(deviations(copy)) == list(deviations(shop)) == []


def make_mug(shop):
    return make_product(shop, "Mug", stock_qty=50, price="20.00")


def put_into_basket(shopper, mug) -> None:
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details(**{f"billing-{name}": value for name, value in ADDRESS.items()})
