"""Stripe: cards, wallets, iDEAL, Klarna, SEPA and whatever else the merchant's account offers.

A payment is a PaymentIntent, made unconfirmed, so that making it again moves no money. The shopper confirms it with
the Payment Element, in their browser, with Stripe: no card number reaches us. What Stripe sends us only makes us look.
"""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings as deployment
from django.http import HttpRequest
from django.utils.functional import classproperty
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from storefront.kit.money import ZERO
from storefront.payments.providers.base import (
    Charge,
    ClientStep,
    Done,
    News,
    PaymentDeclined,
    Provider,
    ProviderRefused,
    ProviderUnavailable,
    RefundDeclined,
    RefundReport,
    RefundStanding,
    Report,
    SavedMethodReport,
    Standing,
    Step,
    failure_words,
)
from storefront.payments.providers.stripe_amounts import from_units, minimum_of, to_units
from storefront.payments.providers.stripe_calls import KeysRefused, open_client, stripe, stripe_errors
from storefront.payments.providers.stripe_settings import StripeSettings, is_test, permissions_policy, policy, problems
from storefront.payments.providers.stripe_words import decline_words, dispute_words, method_label

# Seconds that the signature of an event may be old; Stripe's libraries use the same.
TOLERANCE_SECONDS = 300

STANDINGS = {
    "requires_payment_method": Standing.OPEN,
    "requires_confirmation": Standing.OPEN,
    "requires_action": Standing.OPEN,
    "processing": Standing.PROCESSING,
    "requires_capture": Standing.AUTHORISED,
    "succeeded": Standing.PAID,
    "canceled": Standing.CANCELLED,
}
# Disputes in these states hold no money of the shop: inquiries, and those that it won.
HARMLESS_DISPUTES = ("warning_needs_response", "warning_under_review", "warning_closed", "won", "prevented")
# Other states are pending: some methods take days to refund.
REFUNDS = {"succeeded": RefundStanding.DONE, "failed": RefundStanding.FAILED, "canceled": RefundStanding.FAILED}
# The charge has the payment method and the refunds.
WITH_CHARGE = ["latest_charge"]


class Stripe(Provider):
    name = "stripe"
    company = "Stripe"
    label = _("Card, wallet or bank")
    hint = _("You enter the payment details on the next page, with Stripe.")
    settings_form = StripeSettings
    secrets: ClassVar[frozenset[str]] = frozenset({"secret_key", "webhook_secret"})
    can_hold = True

    @classproperty
    def csp(cls) -> Mapping[str, tuple[str, ...]]:  # noqa: N805 - of the class
        return policy(deployment.STRIPE_SCRIPT, deployment.STRIPE_API)

    @classproperty
    def permissions(cls) -> Mapping[str, tuple[str, ...]]:  # noqa: N805 - of the class
        return permissions_policy(deployment.STRIPE_SCRIPT)

    def minimum(self, currency: str) -> Decimal | None:
        return minimum_of(currency)

    @sensitive_variables("charge", "intent")
    def start(self, charge: Charge) -> Step:
        with stripe_errors():
            intent = self._create(charge)
        return self._step(charge, intent)

    @sensitive_variables("charge")
    def step(self, charge: Charge) -> Step:
        return self._step(charge, self._find(charge))

    @sensitive_variables("charge")
    def look(self, charge: Charge) -> Report:
        return self._report(charge, self._find(charge))

    @sensitive_variables("charge", "intent", "intents")
    def capture(self, charge: Charge) -> Report:
        """Takes nothing of a payment that is not held. Stripe releases the rest of held money after some days."""
        return self._move(charge, "capture")

    def cancel(self, charge: Charge) -> Report:
        return self._move(charge, "cancel")

    @sensitive_variables("charge", "refunds")
    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        """Stripe forgets keys after a day, so a refund is looked up by ours before it is made."""
        refunds = open_client(charge.settings["secret_key"]).v1.refunds
        try:
            with stripe_errors():
                made = refunds.list({"payment_intent": charge.reference, "limit": 100}).auto_paging_iter()
                refund = next((each for each in made if _our_key(each.to_dict()) == key), None)
                refund = refund or refunds.create(
                    {
                        "payment_intent": charge.reference,
                        "amount": to_units(amount, charge.currency),
                        "metadata": {"refund": str(key)},
                    },
                    {"idempotency_key": str(key)},
                )
        except KeysRefused as refusal:
            raise ProviderUnavailable(str(refusal)) from None
        except (ProviderRefused, PaymentDeclined) as refusal:
            raise RefundDeclined(str(refusal)) from None
        return _refund_report(refund.to_dict())

    @sensitive_variables("charge", "intent", "method")
    def save_method(self, charge: Charge) -> SavedMethodReport | None:
        intent = self._find(charge)
        customer = _id(intent.get("customer"))
        method = _reusable_method(intent)
        if not (customer and method):
            return None
        with stripe_errors():
            kept = open_client(charge.settings["secret_key"]).v1.payment_methods.retrieve(method).to_dict()
        if _id(kept.get("customer")) != customer:
            return None
        card = kept.get("card") or {}
        expires = f"{card['exp_month']:02}/{card['exp_year'] % 100:02}" if card else ""
        return SavedMethodReport(customer, method, method_label(kept), expires)

    @sensitive_variables("charge", "intent")
    def charge_saved(self, charge: Charge) -> Step:
        """Where the bank asks for the shopper, or declines, the payment is left to them, on our page."""
        with stripe_errors():
            intent = self._create(charge)
        if intent["status"] not in ("requires_payment_method", "requires_confirmation"):
            return self._step(charge, intent)
        try:
            with stripe_errors():
                intent = (
                    open_client(charge.settings["secret_key"])
                    .v1.payment_intents.confirm(
                        intent["id"],
                        {"off_session": True, "payment_method": charge.method_reference, "expand": WITH_CHARGE},
                        {"idempotency_key": f"{charge.key}-confirm"},
                    )
                    .to_dict()
                )
        except PaymentDeclined:
            with stripe_errors():
                intent = self._retrieve(charge, intent["id"])
        return self._step(charge, intent)

    @sensitive_variables("charge")
    def forget_method(self, charge: Charge) -> None:
        try:
            with stripe_errors():
                open_client(charge.settings["secret_key"]).v1.payment_methods.detach(charge.method_reference)
        except ProviderRefused:
            # The method belongs to no customer any more, so it cannot be charged.
            return

    @sensitive_variables("settings")
    def parse_event(self, request: HttpRequest, settings: Mapping[str, str]) -> News:
        try:
            event = stripe.Webhook.construct_event(
                request.body,
                request.headers.get("Stripe-Signature", ""),
                settings.get("webhook_secret") or _refuse("The shop has no webhook secret."),
                tolerance=TOLERANCE_SECONDS,
            ).to_dict()
            subject = event["data"]["object"]
            kind, event_id = event["type"], event["id"]
        except (stripe.SignatureVerificationError, ValueError, LookupError, TypeError, AttributeError):
            raise ProviderRefused("This is not an event that Stripe signed for this shop.") from None
        reference = subject.get("id") if kind.startswith("payment_intent.") else _id(subject.get("payment_intent"))
        return News(event_id, reference or "", kind, _our_key(subject))

    @sensitive_variables("settings")
    def account(self, settings: Mapping[str, str]) -> str:
        with stripe_errors():
            return open_client(settings["secret_key"]).v1.accounts.retrieve_current().id

    def check(self, settings: Mapping[str, str]) -> list[str]:
        return problems(settings)

    def _create(self, charge: Charge) -> dict[str, Any]:
        """The payment's intent, made on the first call. Raises Stripe's errors."""
        client = open_client(charge.settings["secret_key"])
        params: dict[str, Any] = {
            "amount": to_units(charge.amount, charge.currency),
            "currency": charge.currency.lower(),
            "automatic_payment_methods": {"enabled": True},
            "capture_method": "automatic",
            "description": charge.description,
            "metadata": {"payment": str(charge.key)},
            "expand": WITH_CHARGE,
        }
        if charge.is_held:
            # Only what can be held is: other methods are taken at once, and stay on offer.
            params["payment_method_options"] = {"card": {"capture_method": "manual"}}
        if charge.customer_reference:
            params["customer"] = charge.customer_reference
        elif charge.saves_method:
            customer: Any = {"metadata": params["metadata"]} | ({"email": charge.email} if charge.email else {})
            made = client.v1.customers.create(customer, {"idempotency_key": f"{charge.key}-customer"})
            params["customer"] = made.id
        if charge.saves_method:
            params["setup_future_usage"] = "off_session"
        create: Any = client.v1.payment_intents.create
        return create(params, {"idempotency_key": str(charge.key)}).to_dict()

    def _retrieve(self, charge: Charge, reference: str) -> dict[str, Any]:
        intents = open_client(charge.settings["secret_key"]).v1.payment_intents
        return intents.retrieve(reference, {"expand": WITH_CHARGE}).to_dict()

    def _find(self, charge: Charge) -> dict[str, Any]:
        """The payment's intent, as it is now. Without a reference, by our key: Stripe's search has it after a minute
        or so; until then, making it again returns the first one, as it was then."""
        with stripe_errors():
            reference = charge.reference or self._search(charge) or self._create(charge)["id"]
            return self._retrieve(charge, reference)

    def _search(self, charge: Charge) -> str:
        """The id of the intent with our key, empty if the search does not know it."""
        intents = open_client(charge.settings["secret_key"]).v1.payment_intents
        try:
            found = intents.search({"query": f"metadata['payment']:'{charge.key}'"}).data
        except stripe.InvalidRequestError:
            # Accounts in some countries cannot search.
            return ""
        return found[0].id if found else ""

    def _move(self, charge: Charge, name: str) -> Report:
        """Capture or cancel. The state of the intent makes it happen once: if Stripe refuses, that state is
        reported."""
        intent = self._find(charge)
        intents = open_client(charge.settings["secret_key"]).v1.payment_intents
        move = partial(getattr(intents, name), intent["id"], {"expand": WITH_CHARGE})
        if name == "capture" and intent["status"] != "requires_capture":
            return self._report(charge, intent)
        with stripe_errors():
            try:
                intent = move().to_dict()
            except stripe.InvalidRequestError as error:
                if error.code != "payment_intent_unexpected_state":
                    raise
                intent = self._retrieve(charge, intent["id"])
        return self._report(charge, intent)

    def _step(self, charge: Charge, intent: Mapping[str, Any]) -> Step:
        report = self._report(charge, intent)
        if report.standing != Standing.OPEN:
            return Done(report)
        failure = intent.get("last_payment_error") or {}
        must_confirm = failure.get("code") == "authentication_required"
        data = {
            "script": deployment.STRIPE_SCRIPT,
            "publishable_key": charge.settings["publishable_key"],
            "client_secret": intent["client_secret"],
            "return_url": charge.return_url,
            "is_test": is_test(charge.settings),
            "failure": failure_words(report.failure),
            # The saved method that the bank requires the shopper to confirm.
            "saved_method": charge.method_reference if must_confirm else "",
        }
        return ClientStep("payments/stripe.html", data, report)

    def _report(self, charge: Charge, intent: Mapping[str, Any]) -> Report:
        paid = intent.get("latest_charge") or {}
        failure = intent.get("last_payment_error")
        currency = intent["currency"].upper()
        standing = STANDINGS.get(intent["status"], Standing.PROCESSING)
        disputed, dispute = self._disputes(charge, intent["id"]) if paid.get("disputed") else (ZERO, "")
        took_money = standing in (Standing.AUTHORISED, Standing.PAID)
        gave_back = took_money and (paid.get("amount_refunded") or charge.refunded)
        return Report(
            standing,
            reference=intent["id"],
            amount=from_units(intent["amount"], currency),
            currency=currency,
            captured=from_units(intent["amount_received"], charge.currency),
            refunds=self._refunds(charge, intent["id"]) if gave_back else (),
            disputed=disputed,
            dispute=dispute,
            failure=decline_words(failure.get("code"), failure.get("decline_code"))
            if failure and not took_money
            else "",
            method=method_label(paid.get("payment_method_details")) if took_money else "",
        )

    def _refunds(self, charge: Charge, reference: str) -> tuple[RefundReport, ...]:
        with stripe_errors():
            refunds = open_client(charge.settings["secret_key"]).v1.refunds
            newest_first = refunds.list({"payment_intent": reference, "limit": 100}).auto_paging_iter()
            return tuple(_refund_report(each.to_dict()) for each in newest_first)[::-1]

    def _disputes(self, charge: Charge, reference: str) -> tuple[Decimal, str]:
        """What disputes hold of the payment now, and the newest in words."""
        with stripe_errors():
            disputes = open_client(charge.settings["secret_key"]).v1.disputes.list({"payment_intent": reference}).data
        held = sum(dispute.amount for dispute in disputes if dispute.status not in HARMLESS_DISPUTES)
        return from_units(held, charge.currency), dispute_words(disputes[0]) if disputes else ""


def _refund_report(refund: Mapping[str, Any]) -> RefundReport:
    standing = REFUNDS.get(refund["status"], RefundStanding.PENDING)
    why = f"Stripe could not give the money back ({refund.get('failure_reason') or refund['status']})."
    return RefundReport(
        from_units(refund["amount"], refund["currency"].upper()),
        refund["id"],
        _our_key(refund),
        standing,
        why if standing == RefundStanding.FAILED else "",
    )


def _our_key(subject: Any) -> UUID | None:
    """Our key of a payment or refund, from the metadata of Stripe's object."""
    metadata = subject.get("metadata") or {}
    try:
        return UUID(metadata.get("payment") or metadata.get("refund") or "")
    except ValueError:
        return None


def _id(value: Any) -> str:
    """The id of what may be expanded."""
    return value if isinstance(value, str) else value["id"] if value else ""


def _reusable_method(intent: Mapping[str, Any]) -> str:
    """The id of the method to charge again. iDEAL and Bancontact leave a SEPA debit behind for that."""
    details = (intent.get("latest_charge") or {}).get("payment_method_details") or {}
    own = details.get(details.get("type", "")) or {}
    return _id(own.get("generated_sepa_debit")) or _id(intent.get("payment_method"))


def _refuse(message: str) -> Any:
    raise ProviderRefused(message)
