"""Stripe's codes in words: reasons of declined payments for shoppers, and names of payment methods."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from storefront.payments.providers.base import DECLINED, TRY_ANOTHER

# By decline code of a bank, or code of an error. A bank's suspicion, such as a stolen card, is never passed on: the
# shopper may be the thief. These codes read as a plain decline. In English, as they are stored with the payment.
_REASONS = {
    "authentication_required": gettext_noop("Your bank asks you to confirm this payment."),
    "card_not_supported": gettext_noop("Your card does not support this kind of purchase."),
    "card_velocity_exceeded": gettext_noop("Your card's limit is reached."),
    "currency_not_supported": gettext_noop("Your card does not support this currency."),
    "expired_card": gettext_noop("Your card has expired."),
    "incorrect_cvc": gettext_noop("The card's security code is incorrect."),
    "incorrect_number": gettext_noop("The card number is incorrect."),
    "incorrect_zip": gettext_noop("The postal code does not match your card."),
    "insufficient_funds": gettext_noop("Your card has insufficient funds."),
    "invalid_account": gettext_noop("Your bank does not accept payments from this card or account."),
    "invalid_cvc": gettext_noop("The card's security code is incorrect."),
    "invalid_expiry_month": gettext_noop("The card's expiry date is incorrect."),
    "invalid_expiry_year": gettext_noop("The card's expiry date is incorrect."),
    "invalid_number": gettext_noop("The card number is incorrect."),
    "payment_intent_authentication_failure": gettext_noop("Your bank could not confirm that it is you."),
    "payment_intent_payment_attempt_expired": gettext_noop("The payment was not finished in time."),
    "payment_intent_payment_attempt_failed": gettext_noop("The payment failed."),
    "processing_error": gettext_noop("Your card could not be charged because of an error at the bank."),
    "withdrawal_count_limit_exceeded": gettext_noop("Your card's limit is reached."),
}

BRANDS = {
    "amex": "American Express",
    "cartes_bancaires": "Cartes Bancaires",
    "diners": "Diners Club",
    "discover": "Discover",
    "jcb": "JCB",
    "mastercard": "Mastercard",
    "unionpay": "UnionPay",
    "visa": "Visa",
}
METHODS = {
    "alipay": "Alipay",
    "amazon_pay": "Amazon Pay",
    "bancontact": "Bancontact",
    "blik": "BLIK",
    "eps": "EPS",
    "giropay": "giropay",
    "ideal": "iDEAL",
    "klarna": "Klarna",
    "link": "Link",
    "p24": "Przelewy24",
    "paypal": "PayPal",
    "revolut_pay": "Revolut Pay",
    "sepa_debit": "SEPA Direct Debit",
    "twint": "TWINT",
    "wechat_pay": "WeChat Pay",
}
WALLETS = {"apple_pay": "Apple Pay", "google_pay": "Google Pay", "link": "Link", "samsung_pay": "Samsung Pay"}


def decline_words(code: str | None, decline_code: str | None = None) -> str:
    """Why the payment was declined, for the shopper, as it is stored."""
    return f"{_REASONS.get(decline_code or '') or _REASONS.get(code or '') or DECLINED} {TRY_ANOTHER}"


def method_label(details: Any) -> str:
    """What was paid with, as `Visa •••• 4242 (Apple Pay)` or `iDEAL`, from a charge's `payment_method_details` or a
    payment method. Empty if it is not known."""
    kind = (details or {}).get("type", "")
    own = (details or {}).get(kind) or {}
    if kind in ("card", "card_present"):
        name = BRANDS.get(own.get("brand") or "") or _("Card")
    else:
        name = METHODS.get(kind, kind.replace("_", " ").capitalize())
    wallet = WALLETS.get((own.get("wallet") or {}).get("type", ""))
    digits = own.get("last4")
    return f"{name}{f' •••• {digits}' if digits else ''}{f' ({wallet})' if wallet else ''}"


def dispute_words(dispute: Any) -> str:
    """A dispute, for the merchant, as `Needs response (fraudulent)`."""
    return f"{_plain(dispute['status'])} ({_plain(dispute['reason']).lower()})"


def _plain(code: str) -> str:
    return code.replace("_", " ").capitalize()
