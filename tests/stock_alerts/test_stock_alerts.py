"""Waiting for what is sold out: asked for, confirmed, mailed once, stopped and forgotten."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django_tasks_db.models import DBTaskResult
from limits import parse_many

from storefront.catalogue.models import Product, Variant
from storefront.kit import clock
from storefront.staff import doors
from storefront.stock_alerts import actions, links
from storefront.stock_alerts.models import StockAlert
from tests.catalogue.factories import make_product, make_variant
from tests.languages.test_versions import offer, switch
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.website.test_translated_pages import speaks
from tests.worker import run_due_tasks

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ADA = "ada@example.com"


@pytest.fixture
def cup(shop):
    """A cup, sold out in red."""
    cup = make_product(shop, "Cup")
    make_variant(cup, "Blue")
    make_variant(cup, "Red", stock_qty=0)
    return cup


def red(cup: Product) -> Variant:
    return cup.variants.get(name="Red")


def ask(visitor: Client, product: Product, variant: Variant | None = None, email: str = ADA):
    given = {"product": product.pk, "variant": variant.pk if variant else "", "email": email}
    return visitor.post("/stock-alerts", given)


def mails(mailbox) -> list[tuple[str, str, list[str]]]:
    """Receiver, subject and links of each mail since the last time."""
    before = len(mailbox.messages)
    run_due_tasks()
    return [
        (mail["To"], mail["Subject"], re.findall(r"https://shop\S+", mail.get_body(("plain",)).get_content()))
        for mail in mailbox.messages[before:]
    ]


def path(url: str) -> str:
    return url.removeprefix("https://shop.example.com")


def wait(shop, product, variant=None, email=ADA, **given) -> StockAlert:
    """A confirmed alert."""
    given = {"created_at": NOW, "confirmed_at": NOW} | given
    return StockAlert.objects.create(shop=shop, product=product, variant=variant, email=email, **given)


def test_from_the_question_to_the_one_mail(shop, cup, visitor, mailbox):
    page = visitor.get(f"/products/cup?variant={red(cup).pk}").content.decode()
    assert "Tell me when it is back" in page
    answer = ask(visitor, cup, red(cup), " Ada@Example.com ")
    assert answer["Location"] == f"/products/cup?variant={red(cup).pk}"
    assert "We have written to Ada@Example.com" in visitor.get(answer["Location"]).content.decode()
    ((to, subject, (confirm, _stop)),) = mails(mailbox)
    assert (to, subject) == (ADA, "Please confirm: Cup – Red")
    # The link alone confirms nothing, nor does stock that comes before.
    assert "Tell me" in visitor.get(path(confirm)).content.decode()
    Variant.objects.filter(pk=red(cup).pk).update(stock_qty=3)
    assert actions.queue_due_alerts(now=NOW, limit=9) == 0
    Variant.objects.filter(pk=red(cup).pk).update(stock_qty=0)
    assert "Thank you" in visitor.post(path(confirm)).content.decode()
    assert actions.queue_due_alerts(now=NOW, limit=9) == 0
    Variant.objects.filter(pk=red(cup).pk).update(stock_qty=3)
    assert [actions.queue_due_alerts(now=NOW, limit=9) for _ in range(2)] == [1, 0]
    ((to, subject, (link, _stop)),) = mails(mailbox)
    assert (to, subject) == (ADA, "Back in stock: Cup – Red")
    assert link == f"https://shop.example.com/products/cup?variant={red(cup).pk}"
    assert not StockAlert.objects.exists()
    assert visitor.get(path(confirm)).status_code == 403


def test_a_simple_product_and_what_is_not_to_be_waited_for(shop, other_shop, cup, visitor, mailbox):
    mug = make_product(shop, "Mug", stock_qty=0)
    assert 'id="stock-alert"' in visitor.get("/products/mug").content.decode()
    assert ask(visitor, mug).status_code == 303
    make_product(shop, "Bowl")
    make_product(shop, "Box", type="bundle", stock_qty=0)
    for slug in ("bowl", "box"):
        assert "stock-alert" not in visitor.get(f"/products/{slug}").content.decode()
    theirs = make_product(other_shop, "Secret", stock_qty=0)
    assert ask(visitor, theirs)["Location"] == "/"
    box = Product.objects.get(slug="box")
    none = visitor.post("/stock-alerts", {"product": cup.pk, "variant": "0", "email": ADA})
    for refused in (ask(visitor, cup), ask(visitor, mug, red(cup)), ask(visitor, box), none):
        assert refused.status_code == 404
    assert StockAlert.objects.get().product == mug
    mails(mailbox)
    actions.jobs.send_alert.enqueue(shop.pk, cup.pk, 0, ADA)
    assert mails(mailbox) == []


def test_a_wrong_address_is_said_and_kept(shop, cup, visitor, mailbox):
    answer = ask(visitor, cup, red(cup), "ada@")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Please enter a valid email address" in page
    assert 'value="ada@"' in page
    assert 'value="Red" checked' in page


def test_questions_are_limited_by_place_and_by_address(shop, cup, visitor, mailbox, settings):
    settings.LIMITS = settings.LIMITS | {"stock_alerts": parse_many("4/hour"), "mails_each": parse_many("2/hour")}
    assert [ask(visitor, cup, red(cup)).status_code for _ in range(3)] == [303, 303, 429]
    # The same question again is the same row.
    assert StockAlert.objects.count() == 1
    others = [ask(visitor, cup, red(cup), f"{name}@example.com") for name in ("bob", "eve")]
    assert [answer.status_code for answer in others] == [303, 429]
    assert "Too many attempts" in others[1].content.decode()


def test_nothing_is_offered_where_no_mail_is_sent(shop, cup, visitor, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert "stock-alert" not in visitor.get(f"/products/cup?variant={red(cup).pk}").content.decode()


def test_stopping_deletes_all_requests_of_the_address_in_this_shop(shop, other_shop, cup, visitor, mailbox):
    wait(shop, cup, red(cup))
    kept = [wait(shop, cup, red(cup), "bob@example.com"), wait(other_shop, make_product(other_shop, "Cup"))]
    mug = make_product(shop, "Mug", stock_qty=0)
    ask(visitor, mug)
    ((_, _, (confirm, stop)),) = mails(mailbox)
    assert StockAlert.objects.count() == 4
    assert "Stop these emails" in visitor.get(path(stop)).content.decode()
    # Neither an altered link nor one of another shop does anything.
    for wrong in (path(stop).replace("ada", "bob"), path(stop) + "0", path(confirm).replace("confirm", "stop")):
        assert visitor.post(wrong).status_code == 403
    elsewhere = Client(headers={"host": other_shop.domain})
    assert [elsewhere.post(path(link)).status_code for link in (stop, confirm)] == [403, 403]
    assert StockAlert.objects.count() == 4
    assert "Done" in visitor.post(path(stop)).content.decode()
    assert list(StockAlert.objects.order_by("pk")) == kept


def test_two_workers_queue_one_mail(shop, cup):
    wait(shop, cup, red(cup))
    Variant.objects.filter(pk=red(cup).pk).update(stock_qty=1)
    run_concurrently(*[lambda: actions.queue_due_alerts(now=NOW, limit=9)] * 2)
    assert DBTaskResult.objects.count() == 1


def test_two_questions_at_once_are_one_request(shop, cup):
    given = {"shop": shop, "product_id": cup.pk, "variant_id": red(cup).pk, "email": ADA, "now": NOW}
    run_concurrently(*[lambda: actions.ask_for_alert(**given)] * 2)
    assert StockAlert.objects.count() == 1


def test_only_what_can_be_bought_and_is_public_is_told(shop, cup, mailbox):
    mug = make_product(shop, "Mug", stock_qty=0)
    wait(shop, cup, red(cup))
    wait(shop, mug)
    Variant.objects.filter(pk=red(cup).pk).update(stock_qty=1, is_active=False)
    Product.objects.filter(pk=mug.pk).update(stock_qty=1, status="draft")
    assert actions.queue_due_alerts(now=NOW, limit=9) == 0
    Product.objects.filter(pk=mug.pk).update(status="active")
    assert actions.queue_due_alerts(now=NOW, limit=9) == 1
    # Taken off again before the mail is sent.
    Product.objects.filter(pk=mug.pk).update(status="draft")
    assert mails(mailbox) == []


def test_a_shop_that_is_not_active_keeps_its_requests(shop, other_shop):
    """They are told once it is active again."""
    kept = wait(shop, make_product(shop, "Mug"))
    wait(other_shop, make_product(other_shop, "Mug"))
    shop.is_active = False
    shop.save()
    assert actions.queue_due_alerts(now=NOW, limit=9) == 1
    assert StockAlert.objects.get() == kept


def test_old_requests_are_deleted(shop, cup):
    now = clock.now()
    old = wait(shop, cup, red(cup), "a@example.com", created_at=now - timedelta(days=3), confirmed_at=None)
    ancient = wait(shop, cup, red(cup), "b@example.com", created_at=now - timedelta(days=366))
    kept = [
        wait(shop, cup, red(cup), "c@example.com", created_at=now - timedelta(days=1), confirmed_at=None),
        wait(shop, cup, red(cup), "d@example.com", created_at=now - timedelta(days=300)),
    ]
    assert actions.delete_old_alerts(now=now, limit=9) == 2
    assert list(StockAlert.objects.order_by("pk")) == kept
    assert {old.email, ancient.email}.isdisjoint(StockAlert.objects.values_list("email", flat=True))


def test_an_address_and_what_it_waits_for_can_be_erased(shop, other_shop, cup):
    wait(shop, cup, red(cup))
    wait(other_shop, make_product(other_shop, "Cup"))
    assert actions.waiting(shop, [cup.pk]) == {(cup.pk, red(cup).pk): 1}
    call_command("eraseaudit", shop=shop.domain, email=ADA, stdout=StringIO())
    assert StockAlert.objects.get().shop == other_shop


def test_staff_see_how_many_wait_for_a_variant(shop, cup, desk):
    wait(shop, cup, red(cup))
    wait(shop, cup, red(cup), "bob@example.com")
    wait(shop, cup, red(cup), "eve@example.com", confirmed_at=None)
    page = desk.get(f"/admin/catalogue/variant/{red(cup).pk}/change/").content.decode()
    assert re.search(r"Shoppers waiting for it.*?\b2\b", page, re.S)


def test_alerts_of_a_closed_shop_wait_until_it_opens_and_can_be_stopped(shop, cup, mailbox):
    wait(shop, cup, red(cup))
    new = wait(shop, cup, red(cup), "new@example.com", confirmed_at=None)
    Variant.objects.filter(pk=red(cup).pk).update(stock_qty=1)
    # The doors close after the mail was queued, and before it is sent.
    assert actions.queue_due_alerts(now=NOW, limit=9) == 1
    doors.close_doors(shop=shop, now=NOW)
    assert mails(mailbox) == []
    assert actions.queue_due_alerts(now=NOW, limit=9) == 0
    stranger = Client(headers={"host": shop.domain})
    for link, said in ((links.confirm_link(shop, new), "Thank you"), (links.stop_link(shop, new.email), "Done")):
        assert said in stranger.post(path(link)).content.decode()
    doors.open_doors(shop=shop, now=NOW)
    assert actions.queue_due_alerts(now=NOW, limit=9) == 1
    assert [(to, subject) for to, subject, _ in mails(mailbox)] == [(ADA, "Back in stock: Cup – Red")]


def test_staff_see_how_many_wait_for_a_product(shop, other_shop, cup, desk):
    plate = make_product(shop, "Plate")
    for email in ("a@example.com", "b@example.com", "c@example.com"):
        wait(shop, plate, email=email)
    wait(shop, plate, email="d@example.com", confirmed_at=None)
    wait(other_shop, make_product(other_shop, "Plate"))
    wait(shop, cup, red(cup))
    for product, count in ((plate, 3), (cup, 1)):
        page = desk.get(f"/admin/catalogue/product/{product.pk}/change/").content.decode()
        assert re.search(rf"Shoppers waiting for it</p>\s*<[^>]*>\s*{count}\b", page)
    bundle = make_product(shop, "Set", type="bundle")
    for path in ("add/", f"{bundle.pk}/change/"):
        assert "Shoppers who wait" not in desk.get(f"/admin/catalogue/product/{path}").content.decode()


def test_the_page_of_a_link_leads_to_itself_in_other_languages(shop, other_shop, cup, visitor):
    speaks(shop, "de")
    alert = wait(shop, cup)
    for link in (links.confirm_link(shop, alert), links.stop_link(shop, ADA)):
        there = path(link)
        answer = visitor.get(there, headers={"accept-language": "de"})
        page = answer.content.decode()
        # Following it spends nothing. The secret is in no offer, which would repeat it elsewhere.
        assert (switch(page)["Deutsch"], offer(page)) == (f"/de{there}", [])
        german = visitor.get(switch(page)["Deutsch"]).content.decode()
        assert switch(german)["English"] == there
        assert visitor.post(f"/de{there}").status_code == 200
        assert not switch(visitor.post(there).content.decode())
    assert not switch(visitor.get("/stock-alerts/stop?signature=wrong").content.decode())
