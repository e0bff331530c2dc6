"""What the fake knows: an account's payments, refunds and disputes, with the transitions that Stripe documents."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Data = dict[str, Any]

DECLINED = {
    "4000000000000002": ("card_declined", "generic_decline"),
    "4000000000009995": ("card_declined", "insufficient_funds"),
    "4000000000000069": ("expired_card", "expired_card"),
    "4000000000009987": ("card_declined", "lost_card"),
}
# 3-D Secure: where the shopper is there; always, also with a saved card.
ASKS_SHOPPER = "4000002500003155"
ASKS_ALWAYS = "4000002760003184"
DISPUTED = "4000000000000259"
REDIRECTS = ("ideal", "klarna")


class Refused(Exception):
    """An error as Stripe answers it."""

    def __init__(
        self, status: int, code: str, message: str, *, kind: str = "invalid_request_error", **more: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"type": kind, "code": code, "message": message, **more}


@dataclass
class State:
    """`emit` is called with the type and object of each event."""

    emit: Callable[[str, Data], None]
    objects: dict[str, Data] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    is_ready: bool = True
    account_id: str = "acct_fake"
    # What refunds are at first: with some methods they take days.
    refund_status: str = "succeeded"

    def of(self, kind: str) -> list[Data]:
        """All objects of a kind, newest first."""
        return [each for each in reversed(self.objects.values()) if each["object"] == kind]

    def get(self, kind: str, name: str) -> Data:
        found = self.objects.get(name)
        if found is None or found["object"] != kind:
            raise Refused(404, "resource_missing", f"No such {kind}: '{name}'", param=kind)
        return found

    def account(self) -> Data:
        return {"id": self.account_id, "object": "account", "charges_enabled": self.is_ready, "type": "standard"}

    def create_endpoint(self, url: str, events: list[str]) -> Data:
        members = {"url": url, "enabled_events": events, "status": "enabled", "metadata": {}}
        return self._new("we", "webhook_endpoint", api_version=None, application=None, description=None, **members)

    def create_customer(self, given: Data) -> Data:
        return self._new("cus", "customer", email=given.get("email"), metadata=given.get("metadata", {}))

    def create_intent(self, given: Data) -> Data:
        amount = int(given["amount"])
        if amount < 50 and given["currency"] != "jpy":
            raise Refused(400, "amount_too_small", "Amount must be at least €0.50 eur", param="amount")
        if given.get("customer"):
            self.get("customer", given["customer"])
        intent = self._new(
            "pi",
            "payment_intent",
            amount=amount,
            amount_capturable=0,
            amount_received=0,
            automatic_payment_methods={"enabled": True},
            cancellation_reason=None,
            capture_method=given.get("capture_method", "automatic_async"),
            client_secret=None,
            confirmation_method="automatic",
            currency=given["currency"],
            customer=given.get("customer"),
            description=given.get("description"),
            last_payment_error=None,
            latest_charge=None,
            metadata=given.get("metadata", {}),
            next_action=None,
            payment_method=None,
            payment_method_options=given.get("payment_method_options", {}),
            payment_method_types=["card", "ideal", "klarna", "sepa_debit"],
            setup_future_usage=given.get("setup_future_usage"),
            status="requires_payment_method",
        )
        intent["client_secret"] = f"{intent['id']}_secret_{secrets.token_hex(12)}"
        self.emit("payment_intent.created", intent)
        return intent

    def create_method(self, given: Data, customer: str | None = None) -> Data:
        kind = given["type"]
        number = given.get(kind, {}).get("number", given.get(kind, {}).get("iban", ""))
        own: Data = {}
        if kind == "card":
            own = {"brand": "visa", "country": "DE", "exp_month": 12, "exp_year": 2034, "funding": "credit"}
            own |= {"last4": number[-4:], "wallet": None}
        if kind == "sepa_debit":
            own = {"country": "DE", "last4": number[-4:]}
        empty = {"address": None, "email": None, "name": None, "phone": None}
        method = self._new("pm", "payment_method", type=kind, billing_details=empty, customer=customer, **{kind: own})
        self.numbers[method["id"]] = number
        return method

    def confirm(self, intent: Data, given: Data) -> Data:
        if intent["status"] not in ("requires_payment_method", "requires_confirmation", "requires_action"):
            raise self._wrong_state(intent, "confirm")
        method = (
            self.create_method(given["payment_method_data"])
            if "payment_method_data" in given
            else self.get("payment_method", given.get("payment_method", ""))
        )
        number, is_alone = self.numbers[method["id"]], given.get("off_session") == "true"
        intent |= {"payment_method": method["id"], "last_payment_error": None, "next_action": None}
        if number in DECLINED:
            code, decline_code = DECLINED[number]
            raise self._decline(intent, method, code, decline_code)
        if is_alone and number == ASKS_ALWAYS:
            raise self._decline(intent, method, "authentication_required", "authentication_required")
        if method["type"] in REDIRECTS or (number in (ASKS_SHOPPER, ASKS_ALWAYS) and not is_alone):
            to = {"return_url": given.get("return_url"), "url": f"BANK/{intent['id']}"}
            intent |= {"status": "requires_action", "next_action": {"type": "redirect_to_url", "redirect_to_url": to}}
            self.emit("payment_intent.requires_action", intent)
            return intent
        return self.authorise(intent)

    def authorise(self, intent: Data) -> Data:
        """The bank has agreed."""
        method = self.get("payment_method", intent["payment_method"])
        if intent["setup_future_usage"] and intent["customer"]:
            method["customer"] = intent["customer"]
        if method["type"] == "sepa_debit":
            intent |= {"status": "processing", "next_action": None}
            self.emit("payment_intent.processing", intent)
            return intent
        is_held = intent["payment_method_options"].get(method["type"], {}).get("capture_method") == "manual"
        return self._charge(intent, method, is_captured=not is_held)

    def fail(self, intent: Data, code: str = "payment_intent_authentication_failure") -> Data:
        """The bank, or the shopper at the bank, has not agreed."""
        method = self.get("payment_method", intent["payment_method"])
        self._decline(intent, method, code, None)
        return intent

    def capture(self, intent: Data, given: Data) -> Data:
        if intent["status"] != "requires_capture":
            raise self._wrong_state(intent, "capture")
        charge = self.get("charge", intent["latest_charge"])
        charge |= {"captured": True, "amount_captured": intent["amount"]}
        intent |= {"status": "succeeded", "amount_received": intent["amount"], "amount_capturable": 0}
        self.emit("charge.captured", charge)
        self.emit("payment_intent.succeeded", intent)
        return intent

    def finish(self, intent: Data) -> Data:
        """A debit that took days has arrived."""
        return self._charge(intent, self.get("payment_method", intent["payment_method"]), is_captured=True)

    def cancel(self, intent: Data, given: Data) -> Data:
        if intent["status"] in ("processing", "succeeded", "canceled"):
            raise self._wrong_state(intent, "cancel")
        intent |= {"status": "canceled", "canceled_at": _now(), "amount_capturable": 0, "next_action": None}
        self.emit("payment_intent.canceled", intent)
        return intent

    def refund(self, given: Data) -> Data:
        intent = self.get("payment_intent", given["payment_intent"])
        if not intent["latest_charge"] or not intent["amount_received"]:
            raise Refused(400, "charge_not_captured", "This PaymentIntent does not have a successful charge to refund.")
        charge = self.get("charge", intent["latest_charge"])
        amount, left = int(given["amount"]), charge["amount_captured"] - charge["amount_refunded"]
        if not left:
            raise Refused(400, "charge_already_refunded", f"Charge {charge['id']} has already been refunded.")
        if amount > left:
            raise Refused(400, "amount_too_large", "Refund amount is greater than unrefunded amount on charge")
        refund = self._new(
            "re",
            "refund",
            amount=amount,
            charge=charge["id"],
            currency=intent["currency"],
            metadata=given.get("metadata", {}),
            payment_intent=intent["id"],
            status=self.refund_status,
        )
        charge["amount_refunded"] += amount
        charge["refunded"] = charge["amount_refunded"] == charge["amount_captured"]
        self.emit("refund.created", refund)
        self.emit("charge.refunded", charge)
        return refund

    def refund_in_dashboard(self, intent: Data) -> Data:
        """The merchant gives 4.00 back there."""
        return self.refund({"payment_intent": intent["id"], "amount": "400"})

    def finish_refund(self, intent: Data) -> Data:
        """The newest refund of the payment, which was pending, has arrived."""
        return self._change_refund(intent, {"status": "succeeded"})

    def fail_refund(self, intent: Data) -> Data:
        """The newest refund of the payment comes back, as from a closed account."""
        refund = self._change_refund(intent, {"status": "failed", "failure_reason": "expired_or_canceled_card"})
        charge = self.get("charge", refund["charge"])
        charge["amount_refunded"] -= refund["amount"]
        charge["refunded"] = False
        self.emit("refund.failed", refund)
        return refund

    def _change_refund(self, intent: Data, members: Data) -> Data:
        refund = next(each for each in self.of("refund") if each["payment_intent"] == intent["id"])
        refund |= members
        for kind in ("charge.refund.updated", "refund.updated"):
            self.emit(kind, refund)
        return refund

    def dispute(self, intent: Data) -> Data:
        charge = self.get("charge", intent["latest_charge"])
        charge["disputed"] = True
        dispute = self._new(
            "dp",
            "dispute",
            amount=charge["amount"],
            balance_transactions=[],
            charge=charge["id"],
            currency=charge["currency"],
            evidence={},
            evidence_details={
                "due_by": _now() + 604_800,
                "has_evidence": False,
                "past_due": False,
                "submission_count": 0,
            },
            is_charge_refundable=False,
            metadata={},
            payment_intent=intent["id"],
            reason="fraudulent",
            status="needs_response",
        )
        self.emit("charge.dispute.created", dispute)
        return dispute

    def close_dispute(self, dispute: Data, status: str) -> Data:
        dispute["status"] = status
        self.emit("charge.dispute.closed", dispute)
        return dispute

    def detach(self, method: Data, given: Data) -> Data:
        if not method["customer"]:
            raise Refused(400, "payment_method_not_attached", "The payment method is not attached to a customer.")
        method["customer"] = None
        return method

    def _charge(self, intent: Data, method: Data, *, is_captured: bool) -> Data:
        own = dict(method[method["type"]])
        charge = self._new(
            "ch",
            "charge",
            amount=intent["amount"],
            amount_captured=intent["amount"] if is_captured else 0,
            amount_refunded=0,
            billing_details=method["billing_details"],
            captured=is_captured,
            currency=intent["currency"],
            disputed=False,
            metadata=intent["metadata"],
            paid=True,
            payment_intent=intent["id"],
            payment_method=method["id"],
            payment_method_details={"type": method["type"], method["type"]: own},
            refunded=False,
            status="succeeded",
        )
        intent |= {"latest_charge": charge["id"], "next_action": None, "last_payment_error": None}
        if is_captured:
            intent |= {"status": "succeeded", "amount_received": intent["amount"]}
        else:
            intent |= {"status": "requires_capture", "amount_capturable": intent["amount"]}
        self.emit("charge.succeeded", charge)
        self.emit("payment_intent.succeeded" if is_captured else "payment_intent.amount_capturable_updated", intent)
        if self.numbers[method["id"]] == DISPUTED:
            self.dispute(intent)
        return intent

    def _decline(self, intent: Data, method: Data, code: str, decline_code: str | None) -> Refused:
        message = "Your card was declined."
        error = {"type": "card_error", "code": code, "message": message, "payment_method": dict(method)}
        error |= {"decline_code": decline_code} if decline_code else {}
        intent |= {"status": "requires_payment_method", "payment_method": None, "next_action": None}
        intent["last_payment_error"] = error
        self.emit("payment_intent.payment_failed", intent)
        more = {"payment_intent": dict(intent)} | ({"decline_code": decline_code} if decline_code else {})
        return Refused(402, code, message, kind="card_error", **more)

    def _wrong_state(self, intent: Data, verb: str) -> Refused:
        message = f"You cannot {verb} this PaymentIntent because it has a status of {intent['status']}."
        return Refused(400, "payment_intent_unexpected_state", message, payment_intent=dict(intent))

    def _new(self, prefix: str, kind: str, **members: Any) -> Data:
        name = f"{prefix}_{secrets.token_hex(12)}"
        self.objects[name] = {"id": name, "object": kind, "created": _now(), "livemode": False} | members
        if kind == "refund":
            del self.objects[name]["livemode"]
        return self.objects[name]


def _now() -> int:
    return int(time.time())
