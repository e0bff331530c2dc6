"""The forms of the payment page, validated together."""

from typing import Any

from django.forms import Form

from storefront.checkout.forms import PaymentForm, focus_first_error, forget
from storefront.checkout.queries import Quote
from storefront.customers.session import customer_of
from storefront.payments.accounts import offered_providers
from storefront.payments.providers.base import Provider
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.saved_methods import Keeping, offered_methods
from storefront.shops.request import Request


class PressForms:
    """The choice of a method, saved or new, and each offered provider's own form."""

    def __init__(self, request: Request, quote: Quote) -> None:
        is_free = not quote.totals.amount_due
        self.offered = offered_providers(request.shop)
        self.customer = customer_of(request)
        saved = [] if is_free else offered_methods(request.shop, self.customer, self.offered)
        self.saved = {f"saved-{method.pk}": method for method in saved}
        submitted = request.POST if request.method == "POST" else None
        choices = [(value, method.label) for value, method in self.saved.items()]
        choices += [(each.name, each.label) for each in self.offered]
        initial = {"method": choices[0][0] if choices else ""}
        self.choice = PaymentForm(submitted, methods=choices, is_free=is_free, initial=initial)
        chosen = "" if is_free else request.POST.get("method", "")
        # The providers with a tick at "Save this method".
        self.saves = request.POST.getlist("saves_method") if self.customer else []
        self.by_provider: list[tuple[Provider, Form | None]] = [
            (each, each.form(submitted if each.name == chosen else None) if each.form else None)
            for each in self.offered
        ]

    @property
    def chosen(self) -> Provider | None:
        """The chosen provider; None if nothing is due. The choice is valid."""
        saved = self.keeping.saved
        return PROVIDERS.get(saved.provider if saved else self.choice.cleaned_data["method"])

    @property
    def keeping(self) -> Keeping:
        """The chosen saved method, or whether a new one is to be saved. The choice is valid."""
        method = self.choice.cleaned_data["method"]
        return Keeping(saved=self.saved.get(method), saves=method in self.saves)

    @property
    def given(self) -> dict[str, Any]:
        """What was entered in the chosen provider's form."""
        return next((form.cleaned_data for _, form in self.by_provider if form is not None and form.is_bound), {})

    def are_valid(self) -> bool:
        """Validates all forms, so that all errors are shown at once."""
        bound = [form for _, form in self.by_provider if form is not None and form.is_bound]
        for form in bound:
            focus_first_error(form)
        return all([self.choice.is_valid(), *(form.is_valid() for form in bound)])

    def forget(self) -> None:
        """Drop what was entered in a provider's form, which is never rendered back."""
        for _, form in self.by_provider:
            if form is not None:
                forget(form)
