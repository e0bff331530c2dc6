"""Gift cards in the admin: issued by hand, sent again, disabled, and each with its log and the orders it has paid."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
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
    "Can be used": "success",
    "Not sent yet": "info",
    "Used up": "",
    "Expired": "warning",
    "Disabled": "danger",
}


class IssueForm(ShopScopedForm):
    message = forms.CharField(
        required=False,
        max_length=issuing.MAX_MESSAGE,
        widget=forms.Textarea({"rows": 3}),
        help_text="Printed in the email.",
    )
    send_on = forms.DateField(required=False, widget=UnfoldAdminDateWidget, help_text="Leave empty to send it at once.")

    def clean_value(self) -> Any:
        if self.cleaned_data["value"] <= 0:
            raise forms.ValidationError("Enter an amount of more than 0.00.")
        return self.cleaned_data["value"]

    def clean_send_on(self) -> Any:
        day, today = self.cleaned_data["send_on"], self.shop.local_time(self.now).date()
        if day and not 0 <= (day - today).days <= issuing.MAX_DAYS_AHEAD:
            raise forms.ValidationError("Choose today or a day within a year.")
        return day

    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("send_on") and not self.cleaned_data.get("email"):
            self.add_error("email", "Enter the address to send it to.")


class ResendForm(BaseDialogForm):
    email = forms.EmailField(label="Email address", max_length=254, widget=UnfoldAdminEmailInputWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        card = GiftCard.objects.filter(shop=request.shop, pk=object_id or 0).first()
        self.fields["email"].initial = card.email if card else ""


class ExpiryForm(BaseDialogForm):
    last_day = forms.DateField(
        label="Last day on which it can be used",
        required=False,
        widget=UnfoldAdminDateWidget,
        help_text="Leave empty for a card that does not expire.",
    )


class EntryInline(ReadOnlyInline):
    model = GiftCardEntry
    rights = {"view": Right.VIEW_PAYMENTS}
    fields = readonly_fields = ["when", "kind", "amount", "balance", "order", "detail"]

    when = moment("at", "at")

    @display(description="order")
    def order(self, row: GiftCardEntry) -> Any:
        found = Order.objects.filter(shop=row.shop_id, payments__key=row.payment).first() if row.payment else None
        return link("orders_order_change", found.pk, found) if found else "–"


def state_of(card: GiftCard) -> str:
    if card.disabled_at or card.has_expired(clock.now()):
        return "Disabled" if card.disabled_at else "Expired"
    if not card.balance:
        return "Used up"
    return "Can be used" if card.last_four else "Not sent yet"


def is_enabled(card: GiftCard) -> bool:
    return card.disabled_at is None


@admin.register(GiftCard)
class GiftCardAdmin(ShopScopedAdmin):
    """Cards are not deleted and their values not changed: what happens to one stands in its log."""

    icon = "featured_seasonal_and_gifts"
    empty_text = "Gift cards that you have sold are listed here. You can also issue one yourself."
    form = IssueForm
    rights = {"view": Right.VIEW_PAYMENTS, "add": Right.MANAGE_GIFT_CARDS}
    moves = Moves.MONEY
    list_display = ["card", "value_shown", "balance_shown", "email", "state", "made"]
    search_fields = ["last_four", "email"]
    ordering = ["-created_at", "-id"]
    deferred = ("digest",)
    new_fields = ["value", "email", "message", "send_on"]
    fields = names("card state value_shown balance_shown email message sold_with made due sent expires disabled")

    value_shown = money("value")
    balance_shown = money("balance")
    made = moment("created_at", "issued")
    due = moment("send_at", "will be sent")
    sent = moment("sent_at", "last sent")
    expires = moment("expires_at")
    disabled = moment("disabled_at")

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return [EntryInline] if obj else []

    card = column("card", str, by="last_four")

    state = column("status", state_of, label=STATE_COLOURS)

    @display(description="sold with")
    def sold_with(self, row: GiftCard) -> Any:
        found = Order.objects.filter(shop=row.shop_id, pk=row.order_id).first() if row.order_id else None
        return link("orders_order_change", found.pk, f"Order {found}") if found else "Issued by the shop"

    def save_model(self, request: Any, obj: GiftCard, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in ("value", "email", "message")}
        day = form.cleaned_data["send_on"]
        send_at = issuing.morning_of(request.shop, day) if day else None
        made = issuing.issue_by_hand(shop=request.shop, send_at=send_at, now=request.now, **given)
        obj.pk, obj.last_four = made.pk, made.last_four
        request.new_secret = None if made.email else show_code(shop=request.shop, card=made, now=request.now)

    def response_add(self, request: Any, obj: GiftCard, post_url_continue: str | None = None) -> HttpResponse:
        """Show the code of a card that is not mailed, in the response to the POST itself."""
        if request.new_secret is None:
            return self.done(request, obj, "The gift card will be sent to this address.")
        return self.show_secret(
            request,
            codes.for_people(request.new_secret),
            title=f"Gift card {obj}",
            kind="code",
            use="Anyone who has it can spend the card.",
            then="../",
        )

    @deed("Send again", Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="mail", when=is_enabled)
    @asks(
        "Send this gift card again?",
        "It gets a new code. The code in earlier emails stops working.",
        "Send",
        ResendForm,
    )
    def resend(self, request: Any, card: Any, form: Any) -> str:
        issuing.resend_card(shop=request.shop, card=card, email=form.cleaned_data["email"], now=request.now)
        return "The gift card will be sent again."

    @deed("Change expiry", Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="event", when=is_enabled)
    @asks("Change when this gift card expires?", "It can be used until the end of this day.", "Save", ExpiryForm)
    def expiry(self, request: Any, card: Any, form: Any) -> str:
        day = form.cleaned_data["last_day"]
        expires_at = issuing.end_of(request.shop, day) if day else None
        issuing.change_expiry(shop=request.shop, card=card, expires_at=expires_at, now=request.now)
        return "Expiry saved."

    @deed("Disable", Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="block", variant=DANGER, when=is_enabled)
    @asks("Disable this gift card?", "Nobody can pay with it until it is enabled.", "Disable")
    def disable(self, request: Any, card: Any, form: Any) -> str:
        issuing.disable_card(shop=request.shop, card=card, now=request.now)
        return "Gift card disabled."

    @deed("Enable", Right.MANAGE_GIFT_CARDS, Moves.MONEY, icon="check_circle", when=lambda card: card.disabled_at)
    @asks("Enable this gift card?", "Its balance can be spent again.", "Enable")
    def enable(self, request: Any, card: Any, form: Any) -> str:
        issuing.enable_card(shop=request.shop, card=card, now=request.now)
        return "Gift card enabled."
