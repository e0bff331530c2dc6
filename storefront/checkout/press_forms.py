"""The forms of the payment page, validated together."""

from decimal import Decimal
from typing import Any

from django.forms import Form

from storefront.checkout.forms import PaymentForm, focus_first_error, forget
from storefront.checkout.queries import Quote
from storefront.customers.session import customer_of
from storefront.payments.methods import PaymentMethod, payment_methods
from storefront.payments.providers.base import Provider
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.saved_methods import Keeping, SavedMethod, offered_methods
from storefront.shops.models import Shop
from storefront.shops.request import Request


class PressForms:
    """The choice of a payment method, saved or new, and each provider's own form."""

    def __init__(self, request: Request, quote: Quote, *, is_press: bool) -> None:
        is_free = not quote.totals.amount_due
        self.methods = payment_methods(request.shop, quote.totals)
        self.offered = [each.provider for each in self.methods if each.usable]
        self.customer = customer_of(request)
        saved = [] if is_free else offered_methods(request.shop, self.customer, self.offered)
        self.saved = {f"saved-{method.pk}": method for method in saved}
        submitted = request.POST if is_press else None
        choices = [(value, method.label) for value, method in self.saved.items()]
        choices += [(each.name, str(each.label)) for each in self.offered]
        initial = {"method": choices[0][0] if choices else ""}
        self.choice = PaymentForm(submitted, methods=choices, is_free=is_free, initial=initial)
        chosen = "" if is_free else request.POST.get("method", "")
        # The providers with "Save this method" ticked.
        self.saves = request.POST.getlist("saves_method") if self.customer else []
        self.by_method: list[tuple[PaymentMethod, Form | None]] = [
            (each, form(submitted if each.provider.name == chosen else None) if form and each.usable else None)
            for each in self.methods
            for form in [each.provider.form]
        ]

    def follow(self, shop: Shop, quote: Quote) -> None:
        """Use the methods of a new quote, since the basket has changed. Entered values stay."""
        own = {each.provider.name: form for each, form in self.by_method}
        self.methods = payment_methods(shop, quote.totals)
        self.by_method = [(each, own.get(each.provider.name)) for each in self.methods]

    @property
    def shown_saved(self) -> list[tuple[str, SavedMethod, PaymentMethod]]:
        """The saved methods by the value of their choice, each with its provider's method."""
        of_provider = {each.provider.name: each for each in self.methods}
        return [(value, method, of_provider[method.provider]) for value, method in self.saved.items()]

    @property
    def amount(self) -> Decimal | None:
        """The amount to pay, if it is the same for every usable method; else None."""
        amounts = {each.amount_due for each in self.methods if each.usable}
        return amounts.pop() if len(amounts) == 1 else None

    @property
    def chosen(self) -> Provider | None:
        """The chosen provider; None if nothing is due. Call it after validation."""
        saved = self.keeping.saved
        return PROVIDERS.get(saved.provider if saved else self.choice.cleaned_data["method"])

    @property
    def keeping(self) -> Keeping:
        """The chosen saved method, or the wish to save a new one. Call it after validation."""
        method = self.choice.cleaned_data["method"]
        return Keeping(saved=self.saved.get(method), saves=method in self.saves)

    @property
    def given(self) -> dict[str, Any]:
        """The values entered in the chosen provider's form."""
        return next((form.cleaned_data for _, form in self.by_method if form is not None and form.is_bound), {})

    def are_valid(self) -> bool:
        """Validates all forms, so that all errors are shown at once."""
        bound = [form for _, form in self.by_method if form is not None and form.is_bound]
        for form in bound:
            focus_first_error(form)
        return all([self.choice.is_valid(), *(form.is_valid() for form in bound)])

    def focus_own(self) -> Form | None:
        """Put the focus into the form of the chosen provider, whose payment was declined. Returns the form, if it has
        one."""
        own = next((form for _, form in self.by_method if form is not None and form.is_bound), None)
        if own is not None:
            first = next(iter(own.fields.values()))
            first.widget.attrs |= {"autofocus": True, "aria-describedby": "declined"}
        return own

    def forget(self) -> None:
        """Drop the values entered in a provider's form, which are never rendered back."""
        for _, form in self.by_method:
            if form is not None:
                forget(form)
