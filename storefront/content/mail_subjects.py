"""The standard subjects of the mails whose texts a merchant can change, by kind (`mail_kinds.py`). They are here in
English; a mail has them in its own language."""

from django.utils.translation import gettext_noop as _noop

SUBJECTS = {
    "order_confirmation": _noop("Your order {order_number} at {shop_name}"),
    "order_paid": _noop("Your order {order_number} at {shop_name} is paid"),
    "order_sent": _noop("Your order {order_number} at {shop_name} is on its way"),
    "order_to_collect": _noop("Your order {order_number} at {shop_name} is ready to collect"),
    "order_ready": _noop("Your order {order_number} at {shop_name} is ready"),
    "downloads": _noop("Your downloads from order {order_number} at {shop_name}"),
    "order_cancelled": _noop("Your order {order_number} at {shop_name} was cancelled"),
    "order_refunded": _noop("Your order {order_number} at {shop_name} was refunded"),
    "invoice": _noop("Your invoice {document_number} for order {order_number} at {shop_name}"),
    "credit_note": _noop("Your credit note {document_number} for order {order_number} at {shop_name}"),
    "gift_card": _noop("Your gift card for {shop_name}"),
    "stock_alert_confirmation": _noop("Please confirm: {product_name}"),
    "stock_alert": _noop("Back in stock: {product_name}"),
    "account_register": _noop("Your account at {shop_name}"),
    "account_known": _noop("You have an account at {shop_name}"),
    "account_reset": _noop("Reset your password at {shop_name}"),
    "account_unknown": _noop("Your account at {shop_name}"),
    "account_change_email": _noop("Confirm your new email address at {shop_name}"),
    "account_taken": _noop("Your email address at {shop_name}"),
    "new_order": _noop("New order {order_number}: {order_total}"),
}
