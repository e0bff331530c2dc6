"""What an archive of a shop has: which tables, and which values are left out or refer to a row without a foreign key.

A copy must not act as the original: no token, session, code or mail of the original may work in it, no payment of the
original may be charged or refunded by it. So everything that could is left out when the archive is written, and
`importing.py` lists what has to be entered again.
"""

from collections.abc import Callable
from typing import Any

from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.server.archive.tables import Table, shop_tables

# Tables of a shop that an archive leaves out, and what they are.
LEFT_OUT = {
    "apps.AllowedScriptHost": "hosts of scripts that were allowed",
    "apps.BlockedScript": "reports of blocked scripts",
    "apps.Extension": "additions of apps",
    "apps.ExtensionCall": "calls to apps",
    "apps.Installation": "installed apps",
    "apps.ScriptTag": "additions of apps",
    "carts.Arrival": "open carts",
    "carts.Cart": "open carts",
    "carts.CartLine": "open carts",
    "carts.CartOrder": "open carts",
    "carts.CheckoutLink": "checkout links",
    "catalogue.AwaitedTexts": "the search index, which is built again",
    "catalogue.CleanedText": "cached texts",
    "catalogue.FrequentWord": "the search index, which is built again",
    "catalogue.ImportedChange": "journals of imports",
    "catalogue.LastChange": "times of last changes, which triggers write",
    "catalogue.ListingTotal": "totals, which are counted again",
    "catalogue.ProductImport": "reports of imports",
    "catalogue.ProductSearch": "the search index, which is built again",
    "catalogue.ScheduleTold": "progress of events",
    "catalogue.SearchWord": "the search index, which is built again",
    "catalogue.TextChange": "the search index, which is built again",
    "catalogue.UploadedPicture": "uploads that were not saved",
    "catalogue.WantedThumbnails": "thumbnails, which are made again",
    "catalogue.WordCount": "the search index, which is built again",
    "checkout.Checkout": "open checkouts",
    "content.LooksVersion": "earlier versions of the looks",
    "deployment.ShopFigures": "figures for the operator, which are counted again",
    "deployment.ShopLoad": "figures for the operator, which are counted again",
    "documents.DueOrder": "invoices that are due",
    "exports.Export": "exported files",
    "payments.ProviderAccount": "accounts at payment providers",
    "payments.ReplacedSettings": "accounts at payment providers",
    "payments.SavedMethod": "payment methods that customers saved",
    "pictures.PictureFetch": "pictures that wait to be fetched",
    "pictures.PictureRequest": "pictures that wait to be fetched",
    "pods.HostElsewhere": "hosts that other pods serve",
    "pods.ShopMove": "how far a move to another pod has come",
    "pods.TokenElsewhere": "tokens of shops that have moved away",
    "privacy.DataRequest": "requests of persons for their data",
    "shops.ApiToken": "API tokens",
    "shops.AuditEntry": "the audit log",
    "shops.Change": "announcements to processes",
    "shops.HandoverCode": "codes that move a session between hosts",
    "shops.IdempotentAnswer": "answers kept for repeated calls",
    "shops.QuotaUse": "counts of quotas",
    "shops.ShopDomain": "further domains",
    "shops.StaffInvitation": "invitations",
    "shops.StaffMember": "staff, who are found again by email address",
    "shops.WrittenPosition": "positions in the database's log",
    "stock_alerts.StockAlert": "alerts that shoppers wait for",
    "sync.Change": "positions of feeds",
    "sync.Log": "positions of feeds",
    "webhooks.Attempt": "deliveries of webhooks",
    "webhooks.Delivery": "deliveries of webhooks",
    "webhooks.Event": "events",
    "webhooks.Feed": "events",
    "webhooks.Registration": "webhooks",
}

# Ids in columns that are no foreign keys: the table that they are of. One that no longer exists becomes null.
REFERENCES = {
    "catalogue.DigitalFile": {"given_to": "orders.OrderLine"},
    "gift_cards.GiftCard": {"order_id": "orders.Order", "line_id": "orders.OrderLine"},
}
# Members of objects in JSON columns that are ids, or lists of them. `id` of `stock_taken` depends on `stock` beside it.
_STOCK = {"product": "catalogue.Product", "damaged": "catalogue.Product", "variant": "catalogue.Variant"}
JSON_REFERENCES: dict[tuple[str, str], dict[str, str]] = {
    ("content.Looks", "home"): {
        "picture": "content.LooksPicture",
        "category": "catalogue.Category",
        "products": "catalogue.Product",
    },
    ("orders.Order", "gift_cards"): {"card": "gift_cards.GiftCard"},
    ("orders.OrderLine", "bundle_items"): {"product_id": "catalogue.Product", "variant_id": "catalogue.Variant"},
    ("orders.OrderLine", "options"): {"id": "catalogue.Option", "value_id": "catalogue.OptionValue"},
    ("orders.OrderLine", "stock_taken"): {"id": ""},
    ("payments.OrderDraft", "stock_taken"): {"id": ""},
}
# Columns of numbers and JSON of archived tables that have no ids, so that a new column is looked at.
PLAIN = {
    "catalogue.Category": ("legacy_source_id", "translations"),
    "catalogue.ColumnMapping": ("mapping",),
    "catalogue.ExternalId": ("external_id",),
    "catalogue.ExternalVariantId": ("external_id",),
    "catalogue.Product": ("legacy_source_id", "translations", "tags", "attributes"),
    "catalogue.StockAdjustment": ("delta",),
    "catalogue.StoredFile": ("size",),
    "catalogue.Variant": ("legacy_source_id", "option_values"),
    "content.Looks": ("translations",),
    "content.MailText": ("translations",),
    "content.MenuLink": ("translations",),
    "content.Page": ("old_slugs", "translations"),
    "documents.Document": ("position", "record"),
    "documents.InvoiceSettings": ("translations",),
    "documents.NumberSeries": ("next_number",),
    "gift_cards.GiftCardEntry": ("cart_id",),
    "orders.Download": ("sent",),
    "orders.Order": (
        "number",
        "metadata",
        "tax_lines",
        "vat_check",
        "discount_lines",
        "pickup_place",
        "shipping_address",
        "billing_address",
        "tags",
    ),
    "orders.OrderCounter": ("last_number",),
    "orders.OrderLine": ("tax_lines", "custom_fields", "gift_card"),
    "payments.OrderDraft": ("sale", "basket"),
    "pricing.DeliveryZone": ("countries", "regions", "postcodes"),
    "pricing.Discount": ("translations",),
    "pricing.PickupPlace": ("translations",),
    "pricing.Redemption": ("cart_id",),
    "pricing.ShippingRate": ("translations",),
    "pricing.TaxRate": ("postcodes", "translations"),
    "shops.Shop": ("payment_methods", "order_emails", "further_languages", "translations"),
}

# Ways to pay that need no account, and so work in a copy.
_WITHOUT_ACCOUNT = ("manual", "demo", GIFT_CARD)
# Ends the name of a provider in payments of a copy: no provider has such a name, so none is called for them.
_FOREIGN = " (original)"
# Begins the picture of an order line that is one of the shop's files; what follows is the file's name.
OWN_PICTURE = "media:"


def archived_tables() -> tuple[Table, ...]:
    """The tables that an archive has, each after those that its required foreign keys lead to."""
    return tuple(table for table in shop_tables() if table._meta.label not in LEFT_OUT)


def _shop(row: dict[str, Any]) -> None:
    row["door_password"] = row["proved_sender"] = row["allowed_sender"] = ""
    row["payment_methods"] = [name for name in row["payment_methods"] if name in _WITHOUT_ACCOUNT]


def _card(row: dict[str, Any]) -> None:
    # The code of a card is the original's. Its mail is not sent a second time.
    row["digest"] = row["send_at"] = None


def _payment(row: dict[str, Any]) -> None:
    row["due_at"] = None
    row["place"] = row["customer_reference"] = row["method_reference"] = ""
    if row["gateway"] not in _WITHOUT_ACCOUNT and not row["gateway"].endswith(_FOREIGN):
        row["gateway"] = row["gateway"][: 40 - len(_FOREIGN)] + _FOREIGN


def _draft(row: dict[str, Any]) -> None:
    row["owner"], row["basket"] = None, {}
    # Only what ending it needs.
    row["sale"] = row["sale"] | {"checkout_link": None}


def _of_no_cart(row: dict[str, Any]) -> None:
    row["cart_id"] = None


def _adjustment(row: dict[str, Any]) -> None:
    # Drafts are left out, and the copy may have others with these numbers.
    if row["reference"].startswith("draft "):
        row["reference"] = f"earlier {row['reference']}"


# What else is changed in a row before it is written to an archive.
CHANGED: dict[str, Callable[[dict[str, Any]], None]] = {
    "catalogue.StockAdjustment": _adjustment,
    "gift_cards.GiftCard": _card,
    "gift_cards.GiftCardEntry": _of_no_cart,
    "payments.OrderDraft": _draft,
    "payments.Payment": _payment,
    "pricing.Redemption": _of_no_cart,
    "shops.Shop": _shop,
}


def json_reference(label: str, column: str, member: str, entry: dict[str, Any]) -> str | None:
    """The table that a member of an object in a JSON column has an id of; None if it has none."""
    found = JSON_REFERENCES.get((label, column), {}).get(member)
    return _STOCK.get(entry.get("stock", "")) if found == "" else found


def card_of_payment(row: dict[str, Any]) -> int | None:
    """The id of the gift card that a payment was made with, which is its reference."""
    is_card = row["gateway"] == GIFT_CARD and str(row["reference"]).isdecimal()
    return int(row["reference"]) if is_card else None
