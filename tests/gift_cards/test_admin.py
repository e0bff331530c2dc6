"""Staff issue, send, disable and extend gift cards, and see the log of each."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.urls import reverse

from storefront.gift_cards.codes import digest, normal_code
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.orders.models import Order
from tests.gift_cards.factories import balance, make_card, send_due
from tests.gift_cards.test_spending import enter, fill
from tests.staff import admin_url

pytestmark = pytest.mark.django_db


def press(desk, card, name, **given):
    url = reverse(f"admin:gift_cards_giftcard_{name}", args=[card.pk])
    return desk.post(url, {"_form_submitted": "on"} | given, follow=True)


def test_a_card_is_issued_and_mailed(shop, desk):
    assert desk.fill(GiftCard, value="15.00", email="ben@example.com", message="Sorry!").status_code == 302
    card = GiftCard.objects.get()
    assert (card.shop, card.value, card.balance, card.order_id) == (shop, 15, 15, None)
    send_due()
    assert "Sorry!" in mail.outbox[-1].body


def test_a_card_without_an_address_shows_its_code_once(shop, desk):
    answer = desk.fill(GiftCard, value="15.00")
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True)
    code = re.search(r"[A-Z2-9]{4}(?:-[A-Z2-9]{4}){4}", answer.content.decode())[0]
    card = GiftCard.objects.get()
    assert card.digest == digest(shop, normal_code(code))
    for page in (desk.page(card), desk.get(admin_url(GiftCard, "changelist"))):
        assert code not in page.content.decode()
        assert f"…{card.last_four}" in page.content.decode()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"value": "0"}, "more than 0.00"),
        ({"value": "-1"}, "more than 0.00"),
        ({"value": "5", "send_on": "2999-01-01"}, "within a year"),
        ({"value": "5", "send_on": "2020-01-01"}, "Choose today"),
        ({"value": "5", "email": "nobody"}, "valid email"),
        ({"value": "5", "message": "x" * 501}, "at most 500"),
    ],
)
def test_what_cannot_be_is_refused(desk, given, text):
    answer = desk.fill(GiftCard, **given)
    assert text in answer.content.decode()
    assert not GiftCard.objects.exists()


def test_a_day_needs_an_address(desk):
    day = (clock.now() + timedelta(days=2)).date().isoformat()
    assert "Enter the address" in desk.fill(GiftCard, value="5", send_on=day).content.decode()


def test_sending_again_ends_the_code_before(shop, desk, shopper, mug):
    card, code = make_card(shop, email="ben@example.com")
    assert "will be sent again" in press(desk, card, "resend", email="eva@example.com").content.decode()
    send_due()
    assert mail.outbox[-1].to == ["eva@example.com"]
    fill(shopper, mug)
    assert "not valid" in enter(shopper, code)
    assert "Pays €20.00" in enter(shopper, re.search(r"code: (\S+)", mail.outbox[-1].body)[1])


@pytest.mark.slow
def test_a_disabled_card_pays_nothing_until_it_is_enabled(shop, desk, shopper, mug):
    card, code = make_card(shop, email="ben@example.com")
    press(desk, card, "disable")
    fill(shopper, mug)
    assert "no longer valid" in enter(shopper, code)
    assert "cannot be sent" in press(desk, card, "resend", email="ben@example.com").content.decode()
    press(desk, card, "enable")
    assert "Pays €20.00" in enter(shopper, code)
    kinds = [entry.kind for entry in card.entries.all()]
    assert kinds == ["issued", "shown", "disabled", "enabled"]


def test_the_expiry_is_the_end_of_a_day(shop, desk):
    card, _ = make_card(shop)
    press(desk, card, "expiry", last_day="2030-06-30")
    card.refresh_from_db()
    assert shop.local_time(card.expires_at).isoformat() == "2030-07-01T00:00:00+02:00"
    press(desk, card, "expiry", last_day="")
    card.refresh_from_db()
    assert card.expires_at is None


def test_the_log_names_the_order(shop, desk, shopper, mug):
    card, code = make_card(shop)
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields(""))
    page = desk.page(card).content.decode()
    assert f"#{Order.objects.get().number}" in page
    assert code not in page
    assert balance(card) == 30


@pytest.mark.parametrize("role", ["read_only"])
def test_who_only_reads_cannot_issue(desk, shop, role):
    card, _ = make_card(shop)
    assert desk.page(card).status_code == 200
    assert desk.get(admin_url(GiftCard, "add")).status_code == 403
    assert press(desk, card, "disable").status_code == 403
    card.refresh_from_db()
    assert card.disabled_at is None


def test_another_shops_card_is_not_there(desk, other_shop):
    card, _ = make_card(other_shop)
    assert desk.page(card).status_code == 404
    assert press(desk, card, "disable").status_code == 404
