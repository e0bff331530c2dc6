"""A shopper with an account: requests emails, follows their links, signs in."""

import re

from django.http import HttpResponse

from storefront.shops.models import Shop
from tests.checkout.shopper import Shopper
from tests.customers.factories import PASSWORD
from tests.mailbox import Mailbox
from tests.worker import run_due_tasks


def link_in(text: str) -> str:
    return re.search(r"https?://\S+/account/link\?\S+", text)[0]


class Member(Shopper):
    """A shopper with a mailbox."""

    def __init__(self, shop: Shop, mailbox: Mailbox, email: str = "ada@example.com") -> None:
        super().__init__(shop)
        self.mailbox, self.email = mailbox, email

    def request_link(self, page: str = "register", email: str | None = None) -> HttpResponse:
        """Submit the form of this page, and run the worker, which sends the email."""
        answer = self.post(f"/account/{page}", {"email": email or self.email})
        run_due_tasks()
        return answer

    def mails(self) -> list[str]:
        return self.mailbox.texts(self.email)

    def choose_password(self, link: str, password: str = PASSWORD, name: str = "Ada Lovelace") -> HttpResponse:
        """Follow the link and submit the form that it leads to."""
        answer = self.follow(link)
        if answer.status_code != 303:
            return answer
        return self.post(answer["Location"], {"name": name, "password": password})

    def register(self) -> None:
        self.request_link("register")
        answer = self.choose_password(link_in(self.mails()[-1]))
        assert answer.status_code == 303, answer.content

    @property
    def is_signed_in(self) -> bool:
        return self.get("/account").status_code == 200
