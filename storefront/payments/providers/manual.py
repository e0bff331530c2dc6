from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest

from storefront.payments.providers.base import (
    Charge,
    Done,
    News,
    Provider,
    ProviderRefused,
    RefundReport,
    Report,
    Standing,
    Step,
)


class Manual(Provider):
    """Invoice, bank transfer or cash: the shop gives instructions, and later marks the order as paid. There is nobody
    to ask, so the answers follow from what is asked."""

    name = "manual"
    label = "Invoice or bank transfer"
    hint = "We will send the payment details with your order confirmation."
    form = None
    settings_form = None
    secrets = frozenset()
    can_hold = False
    keeps_books = False
    is_promise = True
    csp: ClassVar[Any] = {}

    def start(self, charge: Charge) -> Step:
        return Done(Report(Standing.PROMISED))

    def step(self, charge: Charge) -> Step:
        return Done(Report(Standing.PROMISED))

    def look(self, charge: Charge) -> Report:
        return Report(Standing.PROMISED)

    def capture(self, charge: Charge) -> Report:
        return Report(Standing.PROMISED)

    def cancel(self, charge: Charge) -> Report:
        return Report(Standing.CANCELLED)

    def refund(self, charge: Charge, *, key: UUID, amount: Any) -> RefundReport:
        """The shop refunds the money itself; here it is only recorded."""
        return RefundReport(amount, key=key)

    def save_method(self, charge: Charge) -> None:
        return None

    def charge_saved(self, charge: Charge) -> Step:
        raise ProviderRefused("An invoice has no saved methods.")

    def forget_method(self, charge: Charge) -> None:
        """Nothing is saved."""

    def parse_event(self, request: HttpRequest, settings: Any) -> News:
        raise ProviderRefused("Nobody sends news of invoices.")

    def check(self, settings: Any) -> list[str]:
        return []
