"""A shopper with an account: asks for mails, follows their links, signs in."""

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
    """A shopper who reads their mail."""

    def __init__(self, shop: Shop, mailbox: Mailbox, email: str = "ada@example.com") -> None:
        super().__init__(shop)
        self.mailbox, self.email = mailbox, email

    def ask(self, page: str = "register", email: str | None = None) -> HttpResponse:
        """Send the form of this page, and have the worker send what it queued."""
        answer = self.post(f"/account/{page}", {"email": email or self.email})
        run_due_tasks()
        return answer

    def mails(self) -> list[str]:
        return self.mailbox.texts(self.email)

    def choose_password(self, link: str, password: str = PASSWORD, name: str = "Ada Lovelace") -> HttpResponse:
        """Follow the link and fill in what it leads to."""
        answer = self.follow(link)
        if answer.status_code != 303:
            return answer
        return self.post(answer["Location"], {"name": name, "password": password})

    def register(self) -> None:
        self.ask("register")
        answer = self.choose_password(link_in(self.mails()[-1]))
        assert answer.status_code == 303, answer.content

    @property
    def is_signed_in(self) -> bool:
        return self.get("/account").status_code == 200

    def read(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, answer
        return answer.content.decode()
