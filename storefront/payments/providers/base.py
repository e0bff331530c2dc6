"""The interface of a payment provider: its calls, their arguments and answers.

Each call may wait on a network, so none is made inside a transaction, and each has a deadline. Each carries a key of
ours: repeated with the same key, it moves money once. The provider is the authority on what has happened; its news say
only that something has (`look` asks what).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from storefront.kit.money import ZERO
from storefront.kit.refusals import Refusal
from storefront.shops.staff_language import within_sentence

# Seconds after which a call to a provider is given up. Its outcome is then unknown.
TIMEOUT_SECONDS = 10


DECLINED = gettext_noop("The payment was declined.")
TRY_ANOTHER = gettext_noop("Nothing was charged. Please try another card or payment method.")


class PaymentDeclined(Refusal):
    """The provider declined the payment; nothing was charged. The message is for the shopper. Providers raise it in
    English, since it is stored with the payment: `failure_words` translates it."""

    code = "payment_declined"
    message = f"{DECLINED} {TRY_ANOTHER}"


def failure_words(stored: str) -> str:
    """Why a payment failed, in the language of the page. Providers mark the parts by `gettext_noop`: a reason, and
    TRY_ANOTHER after most of them."""
    reason = stored.removesuffix(TRY_ANOTHER)
    parts = [reason.strip(), TRY_ANOTHER if reason != stored else ""]
    return " ".join(gettext(part) for part in parts if part)


class RefundDeclined(Refusal):
    """The provider declined the refund. Retrying is useless. The message is for the merchant."""

    code = "refund_declined"
    message = gettext_lazy("The payment provider declined the refund.")


class ProviderUnavailable(Exception):
    """No answer, or an unclear one: the call may have been carried out. Ask again, with the same key."""


class ProviderRefused(Exception):
    """The provider will never carry out this call: wrong keys, or a payment in another state. The message is the reason
    in words for the merchant, without secrets."""


class Standing(StrEnum):
    """How a payment stands with its provider."""

    # The shopper has not finished: no method chosen, a redirect or a confirmation open, or a method that was declined.
    OPEN = "open"
    # The provider works on it, for seconds or days; the shopper has nothing left to do.
    PROCESSING = "processing"
    # The money is held until capture or cancellation.
    AUTHORISED = "authorised"
    # The money was taken.
    PAID = "paid"
    # Ended without money, for good.
    CANCELLED = "cancelled"
    # The shop was promised the money outside the provider, as for an invoice.
    PROMISED = "promised"


class RefundStanding(StrEnum):
    """How a refund stands with its provider."""

    # Accepted, and on its way.
    PENDING = "pending"
    # The money went back.
    DONE = "done"
    # The money stayed with the shop, or came back to it.
    FAILED = "failed"


@dataclass(frozen=True)
class RefundReport:
    """The provider's report about one refund. `reference` is the provider's id; `key` is ours, as passed to `refund`,
    and None for a refund that was made elsewhere. `why` is the reason of a failure, for the merchant."""

    amount: Decimal
    reference: str = ""
    key: UUID | None = None
    standing: RefundStanding = RefundStanding.DONE
    why: str = ""


@dataclass(frozen=True)
class Report:
    """The provider's report about a payment now. Amounts are in the payment's currency. `captured` is what was ever
    taken, a sum that only grows; `refunds` are all refunds of it that there ever were, oldest first, None if this does
    not tell. `disputed` is what a bank has taken back for now or for good. `amount` and `currency` are what the
    provider was asked to take, as it has them, if it tells. `failure` is why the last try failed, for the shopper;
    `method` what was paid with, for people, as `Visa •••• 4242`."""

    standing: Standing
    reference: str = ""
    amount: Decimal | None = None
    currency: str = ""
    captured: Decimal = ZERO
    refunds: tuple[RefundReport, ...] | None = None
    disputed: Decimal = ZERO
    dispute: str = ""
    failure: str = ""
    method: str = ""


@dataclass(frozen=True)
class Done:
    """The start of a payment has an outcome, or at least nothing for the shopper to do."""

    report: Report


@dataclass(frozen=True)
class Redirect:
    """The shopper goes to this address of the provider, and comes back to the payment's `return_url`."""

    url: str
    report: Report


@dataclass(frozen=True)
class ClientStep:
    """The shopper's browser finishes the payment on a page of ours, from this template with this data."""

    template: str
    data: dict[str, Any]
    report: Report


Step = Done | Redirect | ClientStep


@dataclass(frozen=True)
class News:
    """What a provider sent: the id of its event, and the reference of the payment that it is about; empty if about
    none of ours."""

    event_id: str
    reference: str
    kind: str
    # Our key of the payment, where the event tells it: its reference may not have reached us.
    key: UUID | None = None


@dataclass(frozen=True, repr=False)
class Charge:
    """A payment in the form in which providers get it. `key` is ours and never changes; `reference` is the provider's
    id, empty until it gave one. `settings` are those of the shop's account, secrets opened. `given` is what the shopper
    entered in the provider's own form, only while starting. Without a repr, so that logs and error reports contain none
    of it.
    """

    shop_id: int
    key: UUID
    amount: Decimal
    currency: str
    settings: Mapping[str, str]
    reference: str = ""
    # Where the shopper comes back to.
    return_url: str = ""
    # The sum of refunds that are done or pending. A pending one may fail meanwhile.
    refunded: Decimal = ZERO
    # What a bank statement or the provider's pages may say: the shop's name.
    description: str = ""
    email: str = ""
    # Whether the money is only held at first, and captured later.
    is_held: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)
    # The provider's ids of its record of the customer and of a saved method; empty for none.
    customer_reference: str = ""
    method_reference: str = ""
    # Whether the shopper asked that the method be saved.
    saves_method: bool = False


@dataclass(frozen=True)
class SavedMethodReport:
    """A method that the provider keeps for a customer. `label` is for people, as `Visa •••• 4242`."""

    customer_reference: str
    method_reference: str
    label: str
    expires: str = ""


# The optional methods, by the ability that they are for: a provider writes all of one, or none.
ABILITIES = {
    "can_save": ("save_method", "charge_saved", "forget_method", "account"),
    "sends_news": ("parse_event",),
}


class Provider:
    """A payment provider. Shoppers see `label` and `hint`. `form`, if any, is shown with the choice of the provider and
    its cleaned data passed as `Charge.given`. `settings_form`, if any, is what the merchant fills in; its fields named
    in `secrets` are sealed and never shown again. A field named `capture` with the choices `at_once` and
    `on_fulfilment` decides `Charge.is_held`.

    Methods that raise NotImplementedError here are written where the provider has what they are for: `capture` with
    `can_hold`, `check` with `settings_form`, and those of `ABILITIES` as it likes. What a provider can do is found when
    its class is made, from the methods that it has."""

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    hint: ClassVar[str | Promise] = ""
    # Whose it is, for merchants; empty for nobody's.
    company: ClassVar[str] = ""
    form: ClassVar[type[forms.Form] | None] = None
    settings_form: ClassVar[type[forms.Form] | None] = None
    secrets: ClassVar[frozenset[str]] = frozenset()
    # Whether money can be held at first and captured later.
    can_hold: ClassVar[bool] = False
    # True if the provider keeps methods for customers, and if it sends news: found by `ABILITIES`.
    can_save: ClassVar[bool] = False
    sends_news: ClassVar[bool] = False
    # True if the provider only promises money, as by invoice: its unpaid orders are limited (payments/drafts.py).
    is_promise: ClassVar[bool] = False
    # True if the provider can be asked later about the money, such as about a dispute.
    keeps_books: ClassVar[bool] = True
    # Whether shops and shoppers choose it as a payment method.
    is_chosen: ClassVar[bool] = True
    # Whether only demo shops have it (`Shop.is_demo`), since it takes no money.
    is_for_demos: ClassVar[bool] = False
    # What the page of a ClientStep and the payment step may load, by directive of the Content-Security-Policy.
    csp: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    # The features of the Permissions-Policy that these pages need, with their origins.
    permissions: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls) -> None:
        """Find what the provider can do. Raises TypeError for one that lacks a part of it."""
        for ability, methods in ABILITIES.items():
            missing = [name for name in methods if getattr(cls, name) is getattr(Provider, name)]
            if 0 < len(missing) < len(methods):
                raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}.")
            setattr(cls, ability, not missing)
        if cls.settings_form and cls.check is Provider.check:
            raise TypeError(f"{cls.__name__} has settings and lacks check.")

    @property
    def label_for_merchants(self) -> str:
        """As `Stripe: card, wallet or bank`."""
        label = str(self.label)
        return f"{self.company}: {within_sentence(label[:1])}{label[1:]}" if self.company else label

    def minimum(self, currency: str) -> Decimal | None:
        """The smallest payment in this currency that it takes; None if it takes none in it."""
        return ZERO

    def start(self, charge: Charge) -> Step:
        """Begin the payment. Raises PaymentDeclined, ProviderUnavailable or ProviderRefused."""
        raise NotImplementedError

    def step(self, charge: Charge) -> Step:
        """The shopper's next step for a payment that was started, as after a reload."""
        raise NotImplementedError

    def look(self, charge: Charge) -> Report:
        """Ask the provider for the state of the payment; without a reference, by our key."""
        raise NotImplementedError

    def capture(self, charge: Charge) -> Report:
        """Take the money that is held. Repeated, it takes nothing more."""
        raise NotImplementedError

    def cancel(self, charge: Charge) -> Report:
        """End a payment that has taken nothing, and release what is held. The report is PAID or PROCESSING if it was
        too late."""
        raise NotImplementedError

    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        """Give back this much of what was taken. Raises RefundDeclined or ProviderUnavailable."""
        raise NotImplementedError

    def save_method(self, charge: Charge) -> SavedMethodReport | None:
        """The method that a payment which asked for it was paid with; None if it cannot be used again."""
        raise NotImplementedError

    def charge_saved(self, charge: Charge) -> Step:
        """As `start`, with the saved method `method_reference`; a ClientStep or Redirect where the bank asks for it."""
        raise NotImplementedError

    def forget_method(self, charge: Charge) -> None:
        """Delete the saved method at the provider."""
        raise NotImplementedError

    def parse_event(self, request: HttpRequest, settings: Mapping[str, str]) -> News:
        """What the provider sent to the shop's address for news, once its signature was verified. Raises
        ProviderRefused if it is not the provider's."""
        raise NotImplementedError

    def account(self, settings: Mapping[str, str]) -> str:
        """The provider's id of the account behind these settings: a saved method can be charged in its account alone.
        Raises ProviderUnavailable or ProviderRefused."""
        raise NotImplementedError

    def check(self, settings: Mapping[str, str]) -> list[str]:
        """Check these settings by asking the provider. Returns the problem in words for the merchant; empty if there is
        none. Raises ProviderUnavailable."""
        raise NotImplementedError
