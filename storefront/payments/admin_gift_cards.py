"""Gift cards in the admin: issued by hand, sent again, disabled, and each with its log and the orders it has paid."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminDateWidget, UnfoldAdminEmailInputWidget

from storefront.gift_cards import codes, issuing
from storefront.gift_cards.codes import show_code
from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import DANGER, Moves, asks, column, deed, link, moment, money, names
from storefront.staff.admin_scope import ReadOnlyInline

STATE_COLOURS = {
    "usable": "success",
    "unsent": "info",
    "spent": "",
    "expired": "warning",
    "disabled": "danger",
}


class IssueForm(ShopScopedForm):
    message = forms.CharField(
        label=_lazy("Message"),
        required=False,
        max_length=issuing.MAX_MESSAGE,
        widget=forms.Textarea({"rows": 3}),
        help_text=_lazy("Printed in the email."),
    )
    send_on = forms.DateField(
        label=_lazy("Send on"),
        required=False,
        widget=UnfoldAdminDateWidget,
        help_text=_lazy("Leave empty to send it at once."),
    )

    def clean_value(self) -> Any:
        if self.cleaned_data["value"] <= 0:
            raise forms.ValidationError(_("Enter an amount of more than 0.00."))
        return self.cleaned_data["value"]

    def clean_send_on(self) -> Any:
        day, today = self.cleaned_data["send_on"], self.shop.local_time(self.now).date()
        if day and not 0 <= (day - today).days <= issuing.MAX_DAYS_AHEAD:
            raise forms.ValidationError(_("Choose today or a day within a year."))
        return day

    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("send_on") and not self.cleaned_data.get("email"):
            self.add_error("email", _("Enter the address to send it to."))


class ResendForm(BaseDialogForm):
    email = forms.EmailField(label=_lazy("Email address"), max_length=254, widget=UnfoldAdminEmailInputWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        card = GiftCard.objects.filter(shop=request.shop, pk=object_id or 0).first()
        self.fields["email"].initial = card.email if card else ""


class ExpiryForm(BaseDialogForm):
    last_day = forms.DateField(
        label=_lazy("Last day on which it can be used"),
        required=False,
        widget=UnfoldAdminDateWidget,
        help_text=_lazy("Leave empty for a card that does not expire."),
    )


class EntryInline(ReadOnlyInline):
    model = GiftCardEntry
    rights = {"view": Right.VIEW_PAYMENTS}
    fields = readonly_fields = ["when", "kind", "amount", "balance", "order", "detail"]

    when = moment("at", _lazy("at"))

    @display(description=_lazy("order"))
    def order(self, row: GiftCardEntry) -> Any:
        found = Order.objects.filter(shop=row.shop_id, payments__key=row.payment).first() if row.payment else None
        return link("orders_order_change", found.pk, found) if found else "–"


def state_of(card: GiftCard) -> tuple[str, str]:
    """The key of STATE_COLOURS, and the text."""
    if card.disabled_at or card.has_expired(clock.now()):
        return ("disabled", _("Disabled")) if card.disabled_at else ("expired", _("Expired"))
    if not card.balance:
        return "spent", _("Used up")
    return ("usable", _("Can be used")) if card.last_four else ("unsent", _("Not sent yet"))


def is_enabled(card: GiftCard) -> bool:
    return card.disabled_at is None


@admin.register(GiftCard)
class GiftCardAdmin(ShopScopedAdmin):
    """Cards are not deleted and their values not changed: what happens to one stands in its log."""

    icon = "featured_seasonal_and_gifts"
    empty_text = _lazy("Gift cards that you have sold are listed here. You can also issue one yourself.")
    form = IssueForm
    rights = {"view": Right.VIEW_PAYMENTS, "add": Right.MANAGE_GIFT_CARDS}
    moves = Moves.MONEY
    list_display = ["card", "value_shown", "balance_shown", "email", "state", "made"]
    search_fields = ["last_four", "email"]
    ordering = ["-created_at", "-id"]
    deferred = ("digest",)
    new_fields = ["value", "email", "giver", "message", "send_on"]
    fields = names("card state value_shown balance_shown email giver message sold_with made due sent expires disabled")

    value_shown = money("value", _lazy("value"))
    balance_shown = money("balance", _lazy("balance"))
    made = moment("created_at", _lazy("issued"))
    due = moment("send_at", _lazy("will be sent"))
    sent = moment("sent_at", _lazy("last sent"))
    expires = moment("expires_at", _lazy("expires"))
    disabled = moment("disabled_at", _lazy("disabled"))

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return [EntryInline] if obj else []

    card = column(_lazy("card"), str, by="last_four")

    state = column(_lazy("status"), state_of, label=STATE_COLOURS)

    @display(description=_lazy("sold with"))
    def sold_with(self, row: GiftCard) -> Any:
        found = Order.objects.filter(shop=row.shop_id, pk=row.order_id).first() if row.order_id else None
        return (
            link("orders_order_change", found.pk, _("Order %(order)s") % {"order": found})
            if found
            else _("Issued by the shop")
        )

    def save_model(self, request: Any, obj: GiftCard, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in ("value", "email", "message", "giver")}
        day = form.cleaned_data["send_on"]
        send_at = issuing.morning_of(request.shop, day) if day else None
        made = issuing.issue_by_hand(shop=request.shop, send_at=send_at, now=request.now, **given)
        obj.pk, obj.last_four = made.pk, made.last_four
        request.new_secret = None if made.email else show_code(shop=request.shop, card=made, now=request.now)

    def response_add(self, request: Any, obj: GiftCard, post_url_continue: str | None = None) -> HttpResponse:
        """Show the code of a card that is not mailed, in the response to the POST itself."""
        if request.new_secret is None:
            return self.done(request, obj, _("The gift card will be sent to this address."))
        return self.show_secret(
            request,
            codes.for_people(request.new_secret),
            title=_("Gift card %(card)s") % {"card": obj},
            kind=_("code"),
            use=_("Anyone who has it can spend the card."),
            then="../",
        )

    @deed(_lazy("Send again"), Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="mail", when=is_enabled)
    @asks(
        _lazy("Send this gift card again?"),
        _lazy("It gets a new code. The code in earlier emails stops working."),
        _lazy("Send"),
        ResendForm,
    )
    def resend(self, request: Any, card: Any, form: Any) -> str:
        issuing.resend_card(shop=request.shop, card=card, email=form.cleaned_data["email"], now=request.now)
        return _("The gift card will be sent again.")

    @deed(_lazy("Change expiry"), Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="event", when=is_enabled)
    @asks(
        _lazy("Change when this gift card expires?"),
        _lazy("It can be used until the end of this day."),
        _lazy("Save"),
        ExpiryForm,
    )
    def expiry(self, request: Any, card: Any, form: Any) -> str:
        day = form.cleaned_data["last_day"]
        expires_at = issuing.end_of(request.shop, day) if day else None
        issuing.change_expiry(shop=request.shop, card=card, expires_at=expires_at, now=request.now)
        return _("Expiry saved.")

    @deed(_lazy("Disable"), Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="block", variant=DANGER, when=is_enabled)
    @asks(_lazy("Disable this gift card?"), _lazy("Nobody can pay with it until it is enabled."), _lazy("Disable"))
    def disable(self, request: Any, card: Any, form: Any) -> str:
        issuing.disable_card(shop=request.shop, card=card, now=request.now)
        return _("Gift card disabled.")

    @deed(
        _lazy("Enable"), Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="check_circle", when=lambda card: card.disabled_at
    )
    @asks(_lazy("Enable this gift card?"), _lazy("Its balance can be spent again."), _lazy("Enable"))
    def enable(self, request: Any, card: Any, form: Any) -> str:
        issuing.enable_card(shop=request.shop, card=card, now=request.now)
        return _("Gift card enabled.")
