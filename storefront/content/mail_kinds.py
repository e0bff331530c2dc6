"""The kinds of mails whose texts a merchant can change, with their purpose and placeholders.

A mail's template has the facts: items, sums, links, legal texts. An opening text precedes them and a closing text
follows; their standard texts are in the template too (`templatetags/mail_words.py`). Standard subjects are in
`mail_subjects.py`.
"""

from dataclasses import dataclass, field

from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.text import Text

Meanings = dict[str, Text]
# Characters of an opening or closing text.
MAX_TEXT_LENGTH = 2000

OF_SHOP: Meanings = {
    "shop_name": _lazy("the name of your shop"),
    "shop_email": _lazy("your shop's email address, or its web address while it has none"),
    "shop_url": _lazy("the web address of your shop"),
}
OF_ORDER: Meanings = {
    "order_number": _lazy("the number of the order"),
    "order_time": _lazy("day and time of the order"),
    "order_total": _lazy("the total of the order"),
    "first_name": _lazy(
        "the customer's first name, if the order belongs to an account with this address; else nothing"
    ),
}
AMOUNT: Meanings = {"amount": _lazy("the refunded amount")}
OF_DOCUMENT: Meanings = OF_ORDER | {
    "document_number": _lazy("the number of the document"),
    "amount": _lazy("its amount"),
}
PRODUCT: Meanings = {"product_name": _lazy("the name of the product")}


@dataclass(frozen=True)
class MailKind:
    """One kind of mail. `placeholders` are those besides the shop's, by name. `required` ones must be in the opening
    text, since the mail has them nowhere else."""

    title: Text
    when: Text
    template: str
    placeholders: Meanings = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @property
    def meanings(self) -> Meanings:
        """The meaning of each placeholder, by name."""
        return {**self.placeholders, **OF_SHOP}


def _of_order(title: Text, when: Text, template: str, *required: str, **more: Text) -> MailKind:
    return MailKind(title, when, f"orders/{template}.txt", {**OF_ORDER, **more}, required)


def _document(title: Text, when: Text) -> MailKind:
    return MailKind(
        title,
        when,
        "documents/document.txt",
        OF_DOCUMENT,
        ("document_number", "order_number"),
    )


def _account(title: Text, when: Text, name: str, **placeholders: Text) -> MailKind:
    return MailKind(title, when, f"customers/{name}.txt", placeholders)


_SENT = "fulfilment"

# By the name that is stored, in the order of the admin's list.
KINDS: dict[str, MailKind] = {
    "order_confirmation": _of_order(_lazy("Order confirmation"), _lazy("An order is placed."), "confirmation"),
    "order_paid": _of_order(
        _lazy("Payment received"), _lazy("An order is paid, later than it was placed."), "paid", "order_number"
    ),
    "order_sent": _of_order(_lazy("Order sent"), _lazy("An order, or a part of it, is sent."), _SENT, "order_number"),
    "order_to_collect": _of_order(
        _lazy("Ready to collect"),
        _lazy("An order, or a part of it, is ready at its pick-up place."),
        _SENT,
        "order_number",
    ),
    "order_ready": _of_order(
        _lazy("Order ready"),
        _lazy("An order with nothing to send or collect, or a part of it, is ready."),
        _SENT,
        "order_number",
    ),
    "downloads": _of_order(
        _lazy("Downloads"),
        _lazy("The files of an order can be downloaded."),
        "downloads",
        "order_number",
    ),
    "order_cancelled": _of_order(
        _lazy("Order cancelled"), _lazy("An order is cancelled."), "cancelled", "order_number"
    ),
    "order_refunded": _of_order(
        _lazy("Refund"),
        _lazy("Money was refunded."),
        "refunded",
        "amount",
        "order_number",
        **AMOUNT,
    ),
    "invoice": _document(_lazy("Invoice"), _lazy("An invoice is issued.")),
    "credit_note": _document(_lazy("Credit note"), _lazy("A credit note is issued.")),
    "gift_card": MailKind(
        _lazy("Gift card"),
        _lazy("A gift card is due. Sent to its recipient."),
        "gift_cards/gift_card.txt",
        {"amount": _lazy("what is on the card")},
        ("amount",),
    ),
    "stock_alert_confirmation": MailKind(
        _lazy("Back in stock: confirmation"),
        _lazy("Somebody asks for an email when a product is back."),
        "stock_alerts/confirm.txt",
        PRODUCT,
        ("product_name",),
    ),
    "stock_alert": MailKind(
        _lazy("Back in stock"),
        _lazy("A product that somebody waits for can be bought again."),
        "stock_alerts/back.txt",
        PRODUCT,
        ("product_name",),
    ),
    "account_register": _account(_lazy("New account"), _lazy("Somebody asks for an account."), "register"),
    "account_known": _account(
        _lazy("New account: there is one already"),
        _lazy("Somebody asks for an account with the address of one that exists."),
        "known",
    ),
    "account_reset": _account(_lazy("New password"), _lazy("A customer asks for a new password."), "reset"),
    "account_unknown": _account(
        _lazy("New password: there is no account"),
        _lazy("Somebody asks for a new password with an address that no account has."),
        "unknown",
    ),
    "account_change_email": _account(
        _lazy("New email address"),
        _lazy("A customer enters a new email address. Sent to that address."),
        "change_email",
        new_email=_lazy("the new email address"),
    ),
    "account_taken": _account(
        _lazy("New email address: it is in use"),
        _lazy("The new address is that of another account."),
        "taken",
    ),
    "new_order": _of_order(
        _lazy("New order, to the shop"),
        _lazy("An order is placed. Sent to your shop."),
        "new_order",
        "order_number",
    ),
}
