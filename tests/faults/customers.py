"""Shoppers who buy without pause, and repeat what gets no answer, as people reload a page. Each order has an email
address of its own, by which it is found again."""

import itertools
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import requests

from tests.addresses import ADDRESS

SHOPPERS = 3
# Seconds that a shopper waits for an answer, and between two attempts.
PATIENCE_SECONDS, PAUSE_SECONDS = 15, 0.1


DETAILS = {"phone": "", "same": "on", **{f"shipping-{name}": value for name, value in ADDRESS.items()}}


class Refused(Exception):
    """The shop refuses an attempt for good, so that the shopper begins anew. The text is the status."""


class Stopped(Exception):
    """The shoppers go home."""


@dataclass
class Seen:
    """What the shoppers have seen. Times are in seconds of time.monotonic()."""

    # The order that was confirmed to this email address, and when.
    confirmed: dict[str, tuple[str, float]] = field(default_factory=dict)
    # When, and what was seen instead of an answer.
    failures: list[tuple[float, str]] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)


class Shopper:
    def __init__(self, url: str, token: str, product: int, seen: Seen, stopping: threading.Event) -> None:
        self.url, self.product, self.seen, self.stopping = url, product, seen, stopping
        self.api = {"Authorization": f"Bearer {token}"}

    def buy(self, name: str) -> None:
        """Fill a cart over the API, with an idempotency key, follow its link, and order."""
        browser, email = requests.Session(), f"{name}@example.com"
        body = {"product_id": self.product, "qty": 1}
        named = self.api | {"Idempotency-Key": name}
        cart = self.call("/api/v1/cart", named, json=body)
        own = self.api | {"X-Cart-Token": cart.json()["cart_token"]}
        link = self.call("/api/v1/cart/checkout", own)
        self.ask(lambda: browser.get(link.json()["checkout_url"], timeout=PATIENCE_SECONDS))
        self.send(browser, "/checkout", DETAILS | {"email": email})
        page = self.ask(lambda: browser.get(f"{self.url}/checkout/payment", timeout=PATIENCE_SECONDS)).text
        form = {name: hidden(page, name) for name in ("checkout", "shown")}
        done = self.send(browser, "/checkout/payment", form | {"method": "manual", "note": ""})
        found = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", done.url)
        if not found:
            raise AssertionError(f"no confirmation at {done.url}: {done.text[:2000]}")
        self.seen.confirmed[email] = found[0], time.monotonic()

    def call(self, path: str, headers: dict[str, str], **given: Any) -> requests.Response:
        return self.ask(lambda: requests.post(self.url + path, headers=headers, timeout=PATIENCE_SECONDS, **given))

    def send(self, browser: requests.Session, path: str, fields: dict[str, str]) -> requests.Response:
        url = self.url + path
        page = self.ask(lambda: browser.get(url, timeout=PATIENCE_SECONDS)).text
        given = fields | {"csrfmiddlewaretoken": hidden(page, "csrfmiddlewaretoken")}
        return self.ask(lambda: browser.post(url, given, headers={"Referer": url}, timeout=PATIENCE_SECONDS))

    def ask(self, call: Callable[[], requests.Response]) -> requests.Response:
        """The first real answer. Every attempt without one is noted."""
        while not self.stopping.is_set():
            try:
                answer = call()
                failure = _failure(answer)
            except requests.Timeout:
                failure = "no answer"
            except requests.RequestException:
                failure = "no connection"
            now = time.monotonic()
            if not failure:
                self.seen.answers.append(now)
                return answer
            self.seen.failures.append((now, failure))
            self.stopping.wait(PAUSE_SECONDS)
        raise Stopped


def _failure(answer: requests.Response) -> str:
    """What is not an answer but asks for another attempt; empty for an answer."""
    if answer.status_code >= 500:
        return str(answer.status_code)
    if answer.status_code == 409 and "idempotency_in_flight" in answer.text:
        return "409"
    if not answer.ok:
        raise Refused(answer.status_code)
    return ""


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    if not found:
        raise AssertionError(f"no {name} in {page[:2000]}")
    return unescape(found[1])


@contextmanager
def shopping(url: str, token: str, product: int) -> Iterator[Seen]:
    """Shoppers who buy until the block ends. Raises what went wrong for one of them, besides attempts to repeat."""
    seen, stopping, numbers, broken = Seen(), threading.Event(), itertools.count(), []

    def shop() -> None:
        shopper = Shopper(url, token, product, seen, stopping)
        while not stopping.is_set():
            try:
                shopper.buy(f"shopper-{next(numbers)}")
            except Stopped:
                return
            except Refused as refusal:
                seen.failures.append((time.monotonic(), f"refused with {refusal}"))
            except Exception as error:
                broken.append(error)

    threads = [threading.Thread(target=shop, daemon=True) for _ in range(SHOPPERS)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stopping.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS + 5)
    if broken:
        raise broken[0]


def kinds(failures: list[tuple[float, str]]) -> str:
    """Such as `503 x 12, no connection x 3`; a dash without any."""
    counted = Counter(kind for _, kind in failures)
    return ", ".join(f"{kind} x {number}" for kind, number in counted.most_common()) or "none"
