"""The bank as a payment provider of the shop: what docs/payments.md says to write for a new one. In tests only."""

import hmac
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import UUID

from django import forms
from django.http import HttpRequest

from storefront.payments.providers.base import (
    Charge,
    News,
    Provider,
    ProviderRefused,
    ProviderUnavailable,
    Redirect,
    RefundDeclined,
    RefundReport,
    RefundStanding,
    Report,
    Standing,
    Step,
)
from tests.payments.bank import sign

# Seconds. Long, since a busy machine is slow: a bank that gives no answer ends the connection.
TIMEOUT = 60


class BankSettings(forms.Form):
    api = forms.CharField(label="Address of the bank")
    secret = forms.CharField(label="Secret", required=False)
    capture = forms.ChoiceField(choices=[("at_once", "At once"), ("on_fulfilment", "When fulfilled")])


class BankRedirect(Provider):
    name = "bank"
    label = "Bank transfer with your bank"
    hint = "You are taken to your bank."
    settings_form = BankSettings
    secrets = frozenset({"secret"})
    can_hold = True
    csp: ClassVar[Any] = {"form-action": ("http://127.0.0.1:*",)}

    def start(self, charge: Charge) -> Step:
        facts = {"key": str(charge.key), "amount": str(charge.amount), "currency": charge.currency}
        facts |= {"is_held": charge.is_held}
        told = self.send(charge.settings, "start", facts | {"return_url": charge.return_url})
        return Redirect(told["url"], _report(told))

    def step(self, charge: Charge) -> Step:
        told = self._ask(charge, "look")
        return Redirect(told["url"], _report(told))

    def look(self, charge: Charge) -> Report:
        try:
            return _report(self._ask(charge, "look"))
        except ProviderRefused:
            # The bank has never heard of it.
            return Report(Standing.CANCELLED)

    def capture(self, charge: Charge) -> Report:
        return _report(self._ask(charge, "capture"))

    def cancel(self, charge: Charge) -> Report:
        return _report(self._ask(charge, "cancel"))

    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        body = {"id": charge.reference, "refund": str(key), "amount": str(amount)}
        try:
            return _refund_report(self.send(charge.settings, "refund", body), str(key))
        except ProviderRefused:
            raise RefundDeclined from None

    def parse_event(self, request: HttpRequest, settings: Mapping[str, str]) -> News:
        secret = settings.get("secret", "")
        given = request.headers.get("X-Bank-Signature", "")
        if not secret or not hmac.compare_digest(sign(request.body, secret), given):
            raise ProviderRefused("The signature is wrong.")
        event = json.loads(request.body)
        return News(event["event"], event["id"], "changed", key=UUID(event["key"]))

    def check(self, settings: Mapping[str, str]) -> list[str]:
        return [] if settings.get("secret") else ["The secret is missing."]

    def send(self, settings: Mapping[str, str], call: str, body: dict[str, Any]) -> dict[str, Any]:
        """Make a call. Raises ProviderUnavailable without an answer, ProviderRefused where it cannot be done."""
        request = Request(f"{settings['api']}/{call}", json.dumps(body).encode())
        try:
            with urlopen(request, timeout=TIMEOUT) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise ProviderRefused(f"The bank answered {error.code}.") from None
        except (OSError, ValueError) as error:
            raise ProviderUnavailable(type(error).__name__) from None

    def _ask(self, charge: Charge, call: str) -> dict[str, Any]:
        return self.send(charge.settings, call, {"id": charge.reference, "key": str(charge.key)})


def _report(told: dict[str, Any]) -> Report:
    return Report(
        Standing(told["state"]),
        reference=told["id"],
        amount=Decimal(told["amount"]),
        currency=told["currency"],
        captured=Decimal(told["captured"]),
        refunds=tuple(_refund_report(told, key) for key in told["refunds"]),
        failure=told["failure"],
    )


def _refund_report(told: dict[str, Any], key: str) -> RefundReport:
    standings = dict.fromkeys(told["pending"], RefundStanding.PENDING) | dict.fromkeys(
        told["failed"], RefundStanding.FAILED
    )
    return RefundReport(
        Decimal(told["refunds"][key]),
        f"re_{key}",
        _key(key),
        standings.get(key, RefundStanding.DONE),
        told["failed"].get(key, ""),
    )


def _key(text: str) -> UUID | None:
    """Our key of a refund; None for one that was made at the bank."""
    try:
        return UUID(text)
    except ValueError:
        return None
