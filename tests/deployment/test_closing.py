"""A shop that the operator closes sells nothing, and loses nothing."""

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from storefront.audit.owner_mails import send_notice
from storefront.orders.models import Order
from storefront.payments.models import PaymentEntry
from storefront.shops.models import AuditEntry, Shop, StaffMember
from storefront.staff import closing
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.factories import make_order
from tests.payments.conftest import account_of, bank, mug, press, return_path, shopper
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_token
from tests.staff import make_staff, open_desk

__all__ = ["bank", "mug", "shopper"]


def at(shop: Shop, path: str = "/", method: str = "get"):
    return getattr(Client(headers={"host": shop.domain}), method)(path)


def close(shop: Shop) -> None:
    assert closing.close_shop(shop=shop, now=NOW)
    shop.refresh_from_db()


def test_closes_and_opens_again_in_the_admin(operator, shop, other_shop):
    product = make_product(other_shop, "Mug")
    start = "admin:deployment_deployedshop_"
    for name, status in (("close_shop", 410), ("reopen_shop", 200)):
        operator.post(reverse(start + name, args=[other_shop.pk]), {"_form_submitted": "on"})
        assert at(other_shop, f"/products/{product.slug}").status_code == status
        assert at(shop).status_code == 200
    log = AuditEntry.objects.filter(shop=other_shop, object_type="shop").order_by("pk").values_list("action", flat=True)
    assert list(log)[-2:] == ["shop.suspended", "shop.resumed"]


@pytest.mark.parametrize("path", ["/", "/products", "/basket", "/account/sign-in", "/checkout", "/robots.txt"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_each_page_says_that_the_shop_is_closed(shop, other_shop, path, method):
    make_product(shop, "Mug")
    close(shop)
    answer = at(shop, path, method)
    assert answer.status_code == 410
    page = answer.content.decode()
    assert "This shop is closed" in page
    assert "Mug" not in page
    assert other_shop.name not in page
    assert "no-store" in answer["Cache-Control"]


def test_a_missing_page_of_a_closed_shop_shows_nothing_of_it(shop, other_shop):
    make_product(shop, "Mug")
    close(shop)
    answer = at(shop, "/nothing/here/")
    assert answer.status_code == 404
    assert "All products" not in answer.content.decode()


def test_another_shop_is_never_shown_at_the_closed_ones_domain(shop, other_shop):
    """Though a deployment with one open shop shows it under any host."""
    close(shop)
    assert at(shop).status_code == 410
    assert Client(headers={"host": "any.example.net"}).get("/").status_code == 200


def test_every_token_is_refused_and_valid_again_later(shop, other_shop):
    api, app, other = ApiClient(make_token(shop)), install(shop, "read_products").api, ApiClient(make_token(other_shop))
    close(shop)
    for client in (api, app):
        assert (client.get("/products").status_code, client.get("/products").json()["code"]) == (401, "token_unknown")
    assert other.get("/products").status_code == 200
    closing.reopen_shop(shop=shop, now=NOW)
    assert [client.get("/products").status_code for client in (api, app)] == [200, 200]


@pytest.mark.slow
def test_its_staff_still_work_in_the_admin(shop):
    order = make_order(shop)
    desk = open_desk(make_staff(shop), shop)
    close(shop)
    assert desk.get("/admin/").status_code == 200
    assert desk.page(order).status_code == 200
    # Owners cannot open it themselves, not by opening its doors, nor by the form of its settings.
    desk.post(reverse("admin:shops_shop_open_doors", args=[shop.pk]), {"_form_submitted": "on"})
    desk.fill(shop, is_active="on", name="Lighthouse of the sea")
    shop.refresh_from_db()
    assert (shop.is_active, shop.name) == (False, "Lighthouse of the sea")


def test_its_staff_are_shown_that_it_is_closed(shop):
    desk = open_desk(make_staff(shop), shop)
    notice = "The operator of this deployment has closed this shop"
    assert notice not in desk.get("/admin/").content.decode()
    close(shop)
    assert notice in desk.get("/admin/").content.decode()


def test_who_has_paid_still_sees_the_order(shop):
    order = make_order(shop)
    close(shop)
    assert at(shop, f"/orders/{order.public_id}").status_code != 410


def test_money_on_its_way_is_recorded(bank, shop, shopper, mug):
    press(shopper, mug)
    bank.pay(account_of(bank))
    close(shop)
    body, headers = bank.news(account_of(bank))
    browser = Client(headers={"host": shop.domain} | headers)
    assert browser.post("/payments/bank/news", body, content_type="application/json").status_code == 200
    assert Order.objects.get().payment_status == "paid"
    assert PaymentEntry.objects.filter(kind="news").exists()


def test_nobody_is_led_to_a_provider_any_more_but_back(bank, shop, shopper, mug):
    press(shopper, mug)
    back = return_path()
    step = back.removesuffix("/return")
    assert shopper.get(step).status_code == 303
    close(shop)
    assert shopper.get(step).status_code == 410
    bank.pay(account_of(bank))
    assert shopper.get(back)["Location"] == f"/orders/{Order.objects.get().public_id}"


@pytest.mark.django_db(transaction=True)
def test_its_owners_are_told(shop, other_shop):
    make_staff(shop, "ada")
    make_staff(shop, "max", role=StaffMember.Role.MANAGER)
    make_staff(other_shop, "eve")
    closing.close_shop(shop=shop, now=NOW)
    for row in DBTaskResult.objects.filter(task_path__endswith="send_notice"):
        send_notice.call(*row.args_kwargs["args"])
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["ada@example.com"], "Shop closed by the operator: Lighthouse")
    assert "the admin stays open to you" in sent.body


@pytest.mark.django_db(transaction=True)
def test_of_two_who_close_it_at_once_one_does(shop):
    done = run_concurrently(*[lambda: closing.close_shop(shop=shop, now=NOW)] * 4)
    assert sorted(done) == [False, False, False, True]
    assert AuditEntry.objects.filter(shop=shop, action="shop.suspended").count() == 1
