"""A bank that shoppers are redirected to: the provider's side. It keeps its books in memory and speaks JSON over HTTP.

It can drop calls (`silent`), carry them out and not answer (`deaf`), or hold them until told to go on.
"""

import hashlib
import hmac
import json
import secrets
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SECRET = "bank_secret_of_the_shop"


@dataclass
class Account:
    """A payment at the bank."""

    id: str
    key: str
    amount: Decimal
    is_held: bool
    return_url: str
    state: str = "open"
    captured: Decimal = Decimal("0.00")
    currency: str = "EUR"
    # What the bank accepted to give back; and the keys of those of them that are on their way, and that failed.
    refunds: dict[str, Decimal] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    failure: str = ""

    @property
    def refunded(self) -> Decimal:
        """What went back for good."""
        return self.sum_without(self.failed | self.pending)

    @property
    def left(self) -> Decimal:
        """What can still be given back."""
        return self.captured - self.sum_without(self.failed)

    def sum_without(self, keys: set[str]) -> Decimal:
        return sum((amount for key, amount in self.refunds.items() if key not in keys), Decimal("0.00"))


class Bank:
    """The books, and what happens in them. `url` is where its server listens."""

    def __init__(self, url: str = "http://127.0.0.1:1") -> None:
        self.url, self.lock = url, threading.RLock()
        self.accounts: dict[str, Account] = {}
        self.calls: list[str] = []
        # Names of calls: not carried out and not answered; carried out and not answered; held until `gate` is set.
        self.silent: set[str] = set()
        self.deaf: set[str] = set()
        self.gated: set[str] = set()
        # Whether refunds take days.
        self.is_slow = False
        # Members of its answers that are not true.
        self.lies: dict[str, Any] = {}
        self.arrived, self.gate = threading.Semaphore(0), threading.Event()

    @property
    def held(self) -> Decimal:
        """What the bank holds for the shop, all told."""
        return sum((each.captured - each.refunded for each in self.accounts.values()), Decimal("0.00"))

    def handle(self, call: str, body: dict[str, Any]) -> dict[str, Any]:
        """Carry out a call. Raises KeyError for an account that there is not, ValueError for what cannot be done."""
        with self.lock:
            self.calls.append(call)
            if call == "refund":
                return self._refund(self.accounts[body["id"]], body)
            if call == "start":
                account = self._by_key(body["key"]) or self._open(body)
            else:
                account = self.accounts[body["id"]] if body.get("id") else self._by_key(body["key"])
            if account is None:
                raise KeyError
            if call == "capture" and account.state == "authorised":
                account.state, account.captured = "paid", account.amount
            if call == "cancel" and account.state in ("open", "authorised"):
                account.state = "cancelled"
            return self.told(account)

    def told(self, account: Account) -> dict[str, Any]:
        facts = {"id": account.id, "state": account.state, "failure": account.failure, "currency": account.currency}
        sums = {"amount": str(account.amount), "captured": str(account.captured)}
        refunds = {"refunds": {key: str(amount) for key, amount in account.refunds.items()}}
        refunds["failed"] = dict.fromkeys(account.failed, "account closed")
        refunds["pending"] = [*account.pending]
        return facts | sums | refunds | {"url": f"{self.url}/pay/{account.id}"} | self.lies

    def pay(self, account: Account, outcome: str = "pay") -> None:
        """The shopper pays at the bank, or tries to."""
        with self.lock:
            if account.state not in ("open", "processing"):
                return
            if outcome == "pay":
                account.state = "authorised" if account.is_held else "paid"
                account.captured = Decimal("0.00") if account.is_held else account.amount
            elif outcome == "decline":
                account.state, account.failure = "cancelled", "The bank declined the payment. Nothing was charged."
            else:
                account.state = "processing"

    def news(self, account: Account, event: str = "", secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
        """Body and headers of an event about this account."""
        body = json.dumps({"event": event or f"evt_{secrets.token_hex(6)}", "id": account.id, "key": account.key})
        return body.encode(), {"X-Bank-Signature": sign(body.encode(), secret)}

    def _open(self, body: dict[str, Any]) -> Account:
        amount, return_url = Decimal(body["amount"]), body["return_url"]
        account = Account(f"acc_{secrets.token_hex(8)}", body["key"], amount, body["is_held"], return_url)
        account.currency = body.get("currency", "EUR")
        self.accounts[account.id] = account
        return account

    def _by_key(self, key: str) -> Account | None:
        return next((each for each in self.accounts.values() if each.key == key), None)

    def _refund(self, account: Account, body: dict[str, Any]) -> dict[str, Any]:
        amount = Decimal(body["amount"])
        if body["refund"] not in account.refunds:
            if amount > account.left:
                raise ValueError
            account.refunds[body["refund"]] = amount
            account.pending |= {body["refund"]} if self.is_slow else set()
        return self.told(account)


def sign(body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


OUTCOMES = ("pay", "decline", "later")


class Handler(BaseHTTPRequestHandler):
    """`POST /<call>` is a call; `/pay/<id>` is the page that the shopper is taken to."""

    bank: Bank

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if path.startswith("/pay/"):
            account = self.bank.accounts[path.removeprefix("/pay/")]
            self.bank.pay(account, parse_qs(body.decode())["outcome"][0])
            self.answer(303, b"", Location=account.return_url)
        else:
            self.call(path.removeprefix("/"), json.loads(body))

    def do_GET(self) -> None:
        choices = "".join(f'<button name="outcome" value="{name}">{name}</button>' for name in OUTCOMES)
        self.answer(200, f'<!doctype html><title>Bank</title><form method="post">{choices}</form>'.encode())

    def call(self, call: str, body: dict[str, Any]) -> None:
        if call in self.bank.gated:
            self.bank.arrived.release()
            self.bank.gate.wait(60)
        if call in self.bank.silent:
            return
        try:
            status, told = 200, self.bank.handle(call, body)
        except (KeyError, ValueError) as error:
            status, told = (404 if isinstance(error, KeyError) else 400), {}
        if call in self.bank.deaf:
            return
        self.answer(status, json.dumps(told).encode())

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        kind = "text/html" if body.startswith(b"<") else "application/json"
        for name, value in (headers | {"Content-Type": kind, "Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@contextmanager
def bank_server():
    """A bank that listens on loopback."""
    bank = Bank()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BankHandler", (Handler,), {"bank": bank}))
    server.daemon_threads = True
    server.request_queue_size = 100
    bank.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield bank
    finally:
        bank.gate.set()
        server.shutdown()
        server.server_close()
