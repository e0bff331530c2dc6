"""The contact form: its message reaches the shop by mail, and nobody else."""

import pytest
from django.test import Client

from storefront.content import jobs
from storefront.shops.models import Shop
from tests.customers.factories import PASSWORD, make_customer
from tests.mailbox import Mailbox
from tests.shops.factories import make_shop
from tests.worker import run_due_tasks

pytestmark = pytest.mark.django_db(transaction=True)
GIVEN = {"name": "Ada Lovelace", "email": "ada@example.com", "text": "Is the mug <b>blue</b>?\nThank you."}


@pytest.fixture
def shop(db) -> Shop:
    return make_shop(email="hello@shop.example.com")


@pytest.fixture
def visitor(shop, mailbox: Mailbox) -> Client:
    return Client(headers={"host": shop.domain})


def test_a_message_reaches_the_shop(shop, visitor, mailbox):
    make_shop("other.example.com", email="hello@other.example.com")
    assert 'href="/contact"' in visitor.get("/").content.decode()
    answer = visitor.post("/contact", GIVEN, follow=True)
    assert "Your message is on its way" in answer.content.decode()
    run_due_tasks()
    (mail,) = mailbox.messages
    assert (mail["To"], mail["Reply-To"], mail["Subject"]) == (shop.email, GIVEN["email"], "Message from Ada Lovelace")
    assert GIVEN["text"] in mailbox.texts("hello@shop.example.com")[0]


def test_bad_input_is_shown_again_and_sends_nothing(visitor, mailbox):
    answer = visitor.post("/contact", GIVEN | {"email": "nobody", "name": "", "text": "x" * 5001})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert ("Enter a valid email address" in text, "This field is required" in text or "Enter" in text) == (True, True)
    assert "x" * 5001 in text
    visitor.post("/contact", GIVEN | {"name": "Ada\r\nBcc: all@example.com", "email": "ada@example.com\r\nX: y"})
    run_due_tasks()
    assert mailbox.messages == []


def test_a_forged_form_is_refused(shop, mailbox):
    strict = Client(enforce_csrf_checks=True, headers={"host": shop.domain})
    assert strict.post("/contact", GIVEN).status_code == 403
    run_due_tasks()
    assert mailbox.messages == []


def test_too_many_messages_are_refused_and_kept_on_the_page(visitor, mailbox):
    for _ in range(5):
        assert visitor.post("/contact", GIVEN).status_code == 303
    answer = visitor.post("/contact", GIVEN)
    assert answer.status_code == 429
    assert "Too many attempts" in answer.content.decode()
    assert "Thank you." in answer.content.decode()


def test_a_shop_that_can_receive_nothing_has_no_form(shop, visitor, settings):
    Shop.objects.filter(pk=shop.pk).update(email=None)
    assert visitor.get("/contact").status_code == visitor.post("/contact", GIVEN).status_code == 404
    assert 'href="/contact"' not in visitor.get("/").content.decode()
    Shop.objects.filter(pk=shop.pk).update(email="hello@shop.example.com")
    assert visitor.get("/contact").status_code == 200
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert visitor.get("/contact").status_code == 404


def test_a_signed_in_customer_need_not_say_who_they_are(shop, visitor):
    make_customer(shop, "grace@example.com", name="Grace Hopper")
    visitor.post("/account/sign-in", {"email": "grace@example.com", "password": PASSWORD})
    text = visitor.get("/contact").content.decode()
    assert ("Grace Hopper" in text, "grace@example.com" in text) == (True, True)
    assert "Grace Hopper" not in Client(headers={"host": shop.domain}).get("/contact").content.decode()


def test_nothing_is_sent_to_a_shop_that_lost_its_address(shop, visitor, mailbox):
    visitor.post("/contact", GIVEN)
    Shop.objects.filter(pk=shop.pk).update(email=None)
    run_due_tasks()
    assert mailbox.messages == []
    assert not jobs.can_receive(Shop.objects.get(pk=shop.pk))


def test_apps_scripts_do_not_reach_the_form(apart, shop, mailbox):
    """It knows who the shopper is, so it stands with account and checkout."""
    answer = Client(headers={"host": shop.domain}).get("/contact")
    assert answer.status_code == 303
    assert answer["Location"].startswith("http://secure.example.com/")
    page = Client(headers={"host": "secure.example.com"}).get(f"/{shop.domain}/contact")
    assert (page.status_code, "no-store" in page["Cache-Control"]) == (200, True)
