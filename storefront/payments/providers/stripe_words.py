"""Stripe's codes in words: reasons of declined payments for shoppers, and names of payment methods."""

from typing import Any

TRY_ANOTHER = "Nothing was charged. Please try another card or payment method."

# By decline code of a bank, or code of an error. A bank's suspicion, such as a stolen card, is never passed on: the
# shopper may be the thief. These codes read as a plain decline.
_REASONS = {
    "authentication_required": "Your bank asks you to confirm this payment.",
    "card_not_supported": "Your card does not support this kind of purchase.",
    "card_velocity_exceeded": "Your card's limit is reached.",
    "currency_not_supported": "Your card does not support this currency.",
    "expired_card": "Your card has expired.",
    "incorrect_cvc": "The card's security code is incorrect.",
    "incorrect_number": "The card number is incorrect.",
    "incorrect_zip": "The postal code does not match your card.",
    "insufficient_funds": "Your card has insufficient funds.",
    "invalid_account": "Your bank does not accept payments from this card or account.",
    "invalid_cvc": "The card's security code is incorrect.",
    "invalid_expiry_month": "The card's expiry date is incorrect.",
    "invalid_expiry_year": "The card's expiry date is incorrect.",
    "invalid_number": "The card number is incorrect.",
    "payment_intent_authentication_failure": "Your bank could not confirm that it is you.",
    "payment_intent_payment_attempt_expired": "The payment was not finished in time.",
    "payment_intent_payment_attempt_failed": "The payment failed.",
    "processing_error": "Your card could not be charged because of an error at the bank.",
    "withdrawal_count_limit_exceeded": "Your card's limit is reached.",
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
    """Why the payment was declined, for the shopper."""
    reason = _REASONS.get(decline_code or "") or _REASONS.get(code or "") or "The payment was declined."
    return f"{reason} {TRY_ANOTHER}"


def method_label(details: Any) -> str:
    """What was paid with, as `Visa •••• 4242 (Apple Pay)` or `iDEAL`, from a charge's `payment_method_details` or a
    payment method. Empty if it is not known."""
    kind = (details or {}).get("type", "")
    own = (details or {}).get(kind) or {}
    if kind in ("card", "card_present"):
        name = BRANDS.get(own.get("brand") or "", "Card")
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
