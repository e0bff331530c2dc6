"""The kinds of mails whose texts a merchant can change, with their purpose and placeholders.

A mail's template has the facts: items, sums, links, legal texts. An opening text precedes them and a closing text
follows; their standard texts are in the template too (`templatetags/mail_words.py`). Standard subjects are in
`mail_subjects.py`.
"""

from dataclasses import dataclass, field

Meanings = dict[str, str]
# Characters of an opening or closing text.
MAX_TEXT_LENGTH = 2000

OF_SHOP: Meanings = {
    "shop_name": "the name of your shop",
    "shop_email": "your shop's email address, or its web address while it has none",
    "shop_url": "the web address of your shop",
}
OF_ORDER: Meanings = {
    "order_number": "the number of the order",
    "order_time": "day and time of the order",
    "order_total": "the total of the order",
    "first_name": "the customer's first name, if the order belongs to an account with this address; else nothing",
}
AMOUNT: Meanings = {"amount": "the amount that was paid back"}
OF_DOCUMENT: Meanings = OF_ORDER | {"document_number": "the number of the document", "amount": "its amount"}
PRODUCT: Meanings = {"product_name": "the name of the product"}


@dataclass(frozen=True)
class MailKind:
    """One kind of mail. `placeholders` are those besides the shop's, by name. `required` ones must be in the opening
    text, since the mail has them nowhere else."""

    title: str
    when: str
    template: str
    placeholders: Meanings = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @property
    def meanings(self) -> Meanings:
        """The meaning of each placeholder, by name."""
        return self.placeholders | OF_SHOP


def _of_order(title: str, when: str, template: str, *required: str, **more: str) -> MailKind:
    return MailKind(title, when, f"orders/{template}.txt", OF_ORDER | more, required)


def _document(title: str, when: str) -> MailKind:
    return MailKind(
        title,
        when,
        "documents/document.txt",
        OF_DOCUMENT,
        ("document_number", "order_number"),
    )


def _account(title: str, when: str, name: str, **placeholders: str) -> MailKind:
    return MailKind(title, when, f"customers/{name}.txt", placeholders)


_SENT = "fulfilment"

# By the name that is stored, in the order of the admin's list.
KINDS: dict[str, MailKind] = {
    "order_confirmation": _of_order("Order confirmation", "An order is placed.", "confirmation"),
    "order_paid": _of_order("Payment received", "An order is paid, later than it was placed.", "paid", "order_number"),
    "order_sent": _of_order("Order sent", "An order, or a part of it, is sent.", _SENT, "order_number"),
    "order_to_collect": _of_order(
        "Ready to collect",
        "An order, or a part of it, is ready at its pick-up place.",
        _SENT,
        "order_number",
    ),
    "order_ready": _of_order(
        "Order ready",
        "An order with nothing to send or collect, or a part of it, is ready.",
        _SENT,
        "order_number",
    ),
    "downloads": _of_order(
        "Downloads",
        "The files of an order can be downloaded.",
        "downloads",
        "order_number",
    ),
    "order_cancelled": _of_order("Order cancelled", "An order is cancelled.", "cancelled", "order_number"),
    "order_refunded": _of_order(
        "Refund",
        "Money was paid back.",
        "refunded",
        "amount",
        "order_number",
        **AMOUNT,
    ),
    "invoice": _document("Invoice", "An invoice is issued."),
    "credit_note": _document("Credit note", "A credit note is issued."),
    "gift_card": MailKind(
        "Gift card",
        "A gift card is due. Sent to its recipient.",
        "gift_cards/gift_card.txt",
        {"amount": "what is on the card"},
        ("amount",),
    ),
    "stock_alert_confirmation": MailKind(
        "Back in stock: confirmation",
        "Somebody asks for a mail when a product is back.",
        "stock_alerts/confirm.txt",
        PRODUCT,
        ("product_name",),
    ),
    "stock_alert": MailKind(
        "Back in stock",
        "A product that somebody waits for can be bought again.",
        "stock_alerts/back.txt",
        PRODUCT,
        ("product_name",),
    ),
    "account_register": _account("New account", "Somebody asks for an account.", "register"),
    "account_known": _account(
        "New account: there is one already",
        "Somebody asks for an account with the address of one that exists.",
        "known",
    ),
    "account_reset": _account("New password", "A customer asks for a new password.", "reset"),
    "account_unknown": _account(
        "New password: there is no account",
        "Somebody asks for a new password with an address that no account has.",
        "unknown",
    ),
    "account_change_email": _account(
        "New email address",
        "A customer enters a new email address. Sent to that address.",
        "change_email",
        new_email="the new email address",
    ),
    "account_taken": _account(
        "New email address: it is in use",
        "The new address is that of another account.",
        "taken",
    ),
    "new_order": _of_order(
        "New order, to the shop",
        "An order is placed. Sent to your shop.",
        "new_order",
        "order_number",
    ),
}
