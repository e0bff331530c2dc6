"""Gift cards in the admin: issued by hand, sent again, disabled, and each with its log and the orders it has paid."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminDateWidget, UnfoldAdminEmailInputWidget

from storefront.gift_cards import codes, issuing
from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.gift_cards.new_codes import show_code
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.shops.admin_base import ReadOnlyInline, ShopScopedAdmin, moment, money, plain_dialog
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.rights import Right

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
        if row.payment is None:
            return "–"
        found = Order.objects.filter(shop=row.shop_id, payments__key=row.payment).first()
        if found is None:
            return "–"
        return format_html('<a href="{}">{}</a>', reverse("admin:orders_order_change", args=[found.pk]), found)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


@admin.register(GiftCard)
class GiftCardAdmin(ShopScopedAdmin):
    """Cards are not deleted and their values not changed: what happens to one stands in its log."""

    empty_text = "Gift cards that you have sold are listed here. You can also issue one yourself."
    form = IssueForm
    rights = {
        "view": Right.VIEW_PAYMENTS,
        "add": Right.MANAGE_GIFT_CARDS,
        "resend": Right.MANAGE_GIFT_CARDS,
        "expiry": Right.MANAGE_GIFT_CARDS,
        "disable": Right.MANAGE_GIFT_CARDS,
        "enable": Right.MANAGE_GIFT_CARDS,
    }
    list_display = ["card", "value_shown", "balance_shown", "email", "state", "made"]
    search_fields = ["last_four", "email"]
    ordering = ["-created_at", "-id"]
    actions_detail = ["resend", "expiry", "disable", "enable"]

    value_shown = money("value")
    balance_shown = money("balance")
    made = moment("created_at", "issued")
    due = moment("send_at", "will be sent")
    sent = moment("sent_at", "last sent")
    expires = moment("expires_at")
    disabled = moment("disabled_at")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["value", "email", "message", "send_on"]
        shown = ["card", "state", "value_shown", "balance_shown", "email", "message", "sold_with", "made"]
        return [*shown, "due", "sent", "expires", "disabled"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return self.get_fields(request, obj) if obj else []

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return [EntryInline] if obj else []

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).defer("digest")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        card = self.get_object(request, str(object_id))
        hidden = {"enable"} if card and card.disabled_at is None else {"resend", "expiry", "disable"}
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if each.action_name.removeprefix("gift_cards_giftcard_") not in hidden]

    @display(description="card", ordering="last_four")
    def card(self, row: GiftCard) -> str:
        return str(row)

    @display(description="status", label=STATE_COLOURS)
    def state(self, row: GiftCard) -> str:
        if row.disabled_at:
            return "Disabled"
        if row.has_expired(clock.now()):
            return "Expired"
        if not row.balance:
            return "Used up"
        return "Can be used" if row.last_four else "Not sent yet"

    @display(description="sold with")
    def sold_with(self, row: GiftCard) -> Any:
        found = Order.objects.filter(shop=row.shop_id, pk=row.order_id).first() if row.order_id else None
        if found is None:
            return "Issued by the shop"
        return format_html('<a href="{}">Order {}</a>', reverse("admin:orders_order_change", args=[found.pk]), found)

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
        context = {
            **self.admin_site.each_context(request),
            "title": f"Gift card {obj}",
            "opts": self.opts,
            "secret": codes.for_people(request.new_secret),
            "kind": "code",
            "use": "Anyone who has it can spend the card.",
            "then": "../",
        }
        response = TemplateResponse(request, "shops/admin/new_secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @action(
        description="Send again",
        icon="mail",
        dialog={
            "title": "Send this gift card again?",
            "description": "It gets a new code. The code in earlier emails stops working.",
            "form_class": ResendForm,
            "form_submit_text": "Send",
        },
    )
    def resend(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        card = self.row_or_404(request, object_id)
        issuing.resend_card(shop=request.shop, card=card, email=form.cleaned_data["email"], now=request.now)
        return self.done(request, card, "The gift card will be sent again.")

    @action(
        description="Change expiry",
        icon="event",
        dialog={
            "title": "Change when this gift card expires?",
            "description": "It can be used until the end of this day.",
            "form_class": ExpiryForm,
            "form_submit_text": "Save",
        },
    )
    def expiry(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        card, day = self.row_or_404(request, object_id), form.cleaned_data["last_day"]
        expires_at = issuing.end_of(request.shop, day) if day else None
        issuing.change_expiry(shop=request.shop, card=card, expires_at=expires_at, now=request.now)
        return self.done(request, card, "Expiry saved.")

    @action(
        description="Disable",
        icon="block",
        variant=ActionVariant.DANGER,
        dialog=plain_dialog("Disable this gift card?", "Nobody can pay with it until it is enabled.", submit="Disable"),
    )
    def disable(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        card = self.row_or_404(request, object_id)
        issuing.disable_card(shop=request.shop, card=card, now=request.now)
        return self.done(request, card, "Gift card disabled.")

    @action(
        description="Enable",
        icon="check_circle",
        dialog=plain_dialog("Enable this gift card?", "Its balance can be spent again.", submit="Enable"),
    )
    def enable(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        card = self.row_or_404(request, object_id)
        issuing.enable_card(shop=request.shop, card=card, now=request.now)
        return self.done(request, card, "Gift card enabled.")
