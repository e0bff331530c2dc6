"""Shoppers who read, fill carts and buy in many shops. What gets no answer is repeated, with its Idempotency-Key."""

import re
import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from tests.faults.customers import DETAILS, hidden

SHOPPERS = 8
# Seconds that a shopper waits for an answer, waits at most before a repeated attempt, and repeats at most.
ANSWER_SECONDS, MAX_PAUSE_SECONDS, GIVE_UP_SECONDS = 20, 2.0, 60
PAUSE_SECONDS = 0.2
# What a shopper does next, in percent.
MIX = {"read": 90, "cart": 8, "checkout": 2}
CARD = {"method": "demo", "note": "", "number": "4242 4242 4242 4242", "expiry": "12/34", "cvc": "123"}
TRANSFER = {"method": "manual", "note": ""}
ORDER_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class Refused(Exception):
    """An answer below 500 that is not one to go on from. The text has status and path."""


class Unanswered(Exception):
    """No answer within GIVE_UP_SECONDS, however often it was tried."""


@dataclass
class Cart:
    """What a cart has by the answers of the API: pieces by product."""

    shop: dict[str, Any]
    token: str
    pieces: Counter[int]


@dataclass
class Seen:
    """What the shoppers saw. Moments are of time.monotonic(), durations in seconds."""

    # By email address: the shop's domain, the order's public id, and the product.
    orders: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    # Shoppers who sent an order form and never saw a confirmation.
    in_doubt: list[str] = field(default_factory=list)
    carts: list[Cart] = field(default_factory=list)
    durations: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    # When, and what was seen instead of an answer; those that were announced can be repeated.
    failures: list[tuple[float, str]] = field(default_factory=list)
    # Answers of 5xx without Retry-After, with the path.
    unannounced: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    # Pages and answers that showed another shop's product.
    foreign: list[str] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)


class Shopper:
    """One thread's shopper, who begins `rate` actions a second at most."""

    def __init__(self, port: int, shops: list[dict[str, Any]], seen: Seen, ends_at: float, rate: float, name: str):
        self.port, self.shops, self.seen, self.ends_at, self.gap = port, shops, seen, ends_at, 1 / rate
        self.name, self.random, self.count = name, Random(name), 0
        self.session = requests.Session()
        # A connection for each shop's host is kept, as for one host.
        self.session.mount("http://", HTTPAdapter(pool_connections=len(shops)))

    def run(self) -> None:
        kinds, weights = list(MIX), list(MIX.values())
        due = time.monotonic() + self.random.random() * self.gap
        while due < self.ends_at:
            time.sleep(max(0.0, due - time.monotonic()))
            # Each begins with an order, so that a short run has some, too.
            (kind,) = self.random.choices(kinds, weights) if self.count else ["checkout"]
            self.count += 1
            try:
                getattr(self, kind)(self.random.choice(self.shops), f"{self.name}-{self.count}")
            except Refused as refusal:
                self.seen.refused.append(str(refusal))
            # Without catching up: on a slow machine there are fewer actions, and none wait in line.
            due = max(due + self.gap, time.monotonic())

    def read(self, shop: dict[str, Any], _name: str) -> None:
        pk, slug, title = self.random.choice(shop["products"])
        pages = ["/", "/products", f"/products/{slug}", "/categories/kitchen"]
        calls = ["products?per_page=6", f"products/{slug}", f"products?q={slug}"]
        if self.random.random() < 0.5:
            path = self.random.choice(pages)
            text = self.ask("page", "GET", self.url(shop, path)).text
        else:
            path = self.random.choice(calls)
            text = self.call("read by the API", "GET", shop, path).text
        number = title.rpartition(" ")[2]
        named = set(re.findall(r" of shop (\d+)\b", text))
        if named - {number} or (slug in path and not named):
            self.seen.foreign.append(f"{path} of {shop['domain']}, product {pk}: {sorted(named)}")

    def cart(self, shop: dict[str, Any], name: str) -> None:
        """A new cart with one or two lines, which is compared at the end."""
        cart = Cart(shop, "", Counter())
        for place in range(self.random.choice((1, 2))):
            self.add(cart, f"{name}-{place}", self.random.choice(shop["products"])[0], self.random.choice((1, 2, 3)))
        self.seen.carts.append(cart)

    def add(self, cart: Cart, key: str, product: int, pieces: int) -> None:
        headers = {"Idempotency-Key": key} | ({"X-Cart-Token": cart.token} if cart.token else {})
        line = {"product_id": product, "qty": pieces}
        cart.token = self.call("cart", "POST", cart.shop, "cart", headers=headers, json=line).json()["cart_token"]
        cart.pieces[product] += pieces

    def checkout(self, shop: dict[str, Any], name: str) -> None:
        """A cart by the API, its signed link, the checkout's pages, and the order."""
        browser, email = requests.Session(), f"{name}@example.com"
        cart, product = Cart(shop, "", Counter()), self.random.choice(shop["products"])[0]
        self.add(cart, name, product, 1)
        link = self.call("cart", "POST", shop, "cart/checkout", headers={"X-Cart-Token": cart.token}).json()
        page = self.ask("checkout", "GET", link["checkout_url"], browser)
        details = page.url.partition("?")[0]
        if not details.endswith("/checkout"):
            raise Refused(f"the link leads to {details}")
        self.send("checkout", browser, page, details, DETAILS | {"email": email})
        page = self.ask("checkout", "GET", f"{details}/payment", browser)
        form = {name: hidden(page.text, name) for name in ("checkout", "shown")}
        way = self.random.choice((CARD, TRANSFER))
        self.seen.in_doubt.append(email)
        done = self.send("order", browser, page, f"{details}/payment", form | way)
        found = ORDER_ID.search(done.url)
        if not found:
            raise Refused(f"no confirmation at {done.url}")
        self.seen.orders[email] = shop["domain"], found[0], product
        self.seen.in_doubt.remove(email)

    def send(self, kind: str, browser: requests.Session, page: requests.Response, url: str, fields: dict[str, str]):
        given = fields | {"csrfmiddlewaretoken": hidden(page.text, "csrfmiddlewaretoken")}
        return self.ask(kind, "POST", url, browser, data=given, headers={"Referer": url})

    def call(self, kind: str, method: str, shop: dict[str, Any], path: str, **given: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {shop['token']}"} | given.pop("headers", {})
        return self.ask(kind, method, self.url(shop, f"/api/v1/{path}"), headers=headers, **given)

    def url(self, shop: dict[str, Any], path: str) -> str:
        return f"http://{shop['domain']}:{self.port}{path}"

    def ask(self, kind: str, method: str, url: str, browser: requests.Session | None = None, **given: Any):
        """The first real answer. Each attempt without one is noted and repeated, after what Retry-After names."""
        session, gives_up_at = browser or self.session, time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < gives_up_at:
            began, pause = time.monotonic(), PAUSE_SECONDS
            try:
                answer = session.request(method, url, timeout=ANSWER_SECONDS, **given)
            except requests.Timeout:
                failure = "no answer"
            except requests.RequestException:
                failure = "no connection"
            else:
                self.seen.durations[kind].append(time.monotonic() - began)
                if not is_to_repeat(answer):
                    if not answer.ok:
                        raise Refused(f"{answer.status_code} at {answer.request.method} {path_of(answer)}")
                    return answer
                failure = str(answer.status_code)
                pause = min(MAX_PAUSE_SECONDS, float(answer.headers.get("Retry-After", PAUSE_SECONDS)))
                # A lost answer, as if the connection had broken at the shopper's end.
                is_lost = answer.status_code == 502 and "not known" in answer.text
                is_announced = answer.status_code == 503 and "Retry-After" in answer.headers
                if answer.status_code >= 500 and not (is_lost or is_announced):
                    self.seen.unannounced.append(f"{answer.status_code} at {answer.request.method} {path_of(answer)}")
            self.seen.failures.append((time.monotonic(), failure))
            time.sleep(pause)
        raise Unanswered(f"{method} {url.partition('?')[0]}")


def is_to_repeat(answer: requests.Response) -> bool:
    return answer.status_code >= 500 or (answer.status_code == 409 and "idempotency_in_flight" in answer.text)


def path_of(answer: requests.Response) -> str:
    """Host and path of the last request, without ids that differ each time."""
    return ORDER_ID.sub("ID", answer.url.partition("?")[0].removeprefix("http://"))


def find_names_under_localhost() -> None:
    """Have this process connect to 127.0.0.1 for each name under localhost, as browsers do; not every resolver does."""
    resolve = socket.getaddrinfo

    def lookup(host: Any, *given: Any, **named: Any) -> Any:
        return resolve("127.0.0.1" if str(host).endswith(".localhost") else host, *given, **named)

    socket.getaddrinfo = lookup


@contextmanager
def shopping(
    port: int, shops: list[dict[str, Any]], *, seconds: float, rate: float
) -> Iterator[tuple[Seen, list[threading.Thread]]]:
    """Shoppers who begin `rate` actions a second together, for so long. They end what they have begun; the block's end
    waits for that."""
    find_names_under_localhost()
    seen, ends_at = Seen(), time.monotonic() + seconds

    def shop(number: int) -> None:
        try:
            Shopper(port, shops, seen, ends_at, rate / SHOPPERS, f"shopper-{number}").run()
        except BaseException as error:
            seen.broken.append(error)

    threads = [threading.Thread(target=shop, args=(number,), daemon=True) for number in range(SHOPPERS)]
    for thread in threads:
        thread.start()
    yield seen, threads
    for thread in threads:
        thread.join(10 * GIVE_UP_SECONDS)
