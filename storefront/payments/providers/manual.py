from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from storefront.payments.providers.base import Charge, Done, Provider, RefundReport, Report, Standing, Step


class Manual(Provider):
    """Invoice, bank transfer or cash: the shop gives instructions, and later marks the order as paid. There is nobody
    to ask, so the answers follow from what is asked."""

    name = "manual"
    label = _("Invoice or bank transfer")
    hint = _("We will send the payment details with your order confirmation.")
    keeps_books = False
    is_promise = True

    def start(self, charge: Charge) -> Step:
        return Done(Report(Standing.PROMISED))

    def step(self, charge: Charge) -> Step:
        return Done(Report(Standing.PROMISED))

    def look(self, charge: Charge) -> Report:
        return Report(Standing.PROMISED)

    def cancel(self, charge: Charge) -> Report:
        return Report(Standing.CANCELLED)

    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        """The shop refunds the money itself; here it is only recorded."""
        return RefundReport(amount, key=key)
