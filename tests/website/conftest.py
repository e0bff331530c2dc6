from collections.abc import Iterator

import pytest
from django.test import Client

from storefront.customers.models import Customer
from tests.customers.factories import make_customer
from tests.mailbox import Mailbox, open_mailbox
from tests.website.accounts import Member


@pytest.fixture
def visitor(shop) -> Client:
    """A browser at the shop's host."""
    return Client(headers={"host": shop.domain})


@pytest.fixture
def page(visitor):
    """`page("/products")` is the text of that page. Checks its status."""

    def read(path: str, status: int = 200) -> str:
        answer = visitor.get(path)
        assert answer.status_code == status, answer.content
        return answer.content.decode()

    return read


@pytest.fixture
def mailbox(settings) -> Iterator[Mailbox]:
    """A real SMTP server that receives the shop's emails."""
    with open_mailbox() as mailbox:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mailbox.port
        yield mailbox


@pytest.fixture
def member(shop, mailbox) -> Member:
    """Ada, who has no account yet."""
    return Member(shop, mailbox)


@pytest.fixture
def ada(shop) -> Customer:
    """Ada as a customer who can sign in."""
    return make_customer(shop, name="Ada Lovelace")
