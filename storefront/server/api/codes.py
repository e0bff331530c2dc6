"""Every code of the API's errors, with its cause and what to do about it (R-ERR-1).

`/api/docs/errors` shows this list; the `doc_url` of an error leads to its entry.
"""

from typing import NamedTuple

from ninja.operation import Operation

from storefront.shops.auth import app_scope
from storefront.shops.idempotency import METHODS


class Code(NamedTuple):
    """`status` is the HTTP status of the errors with this code."""

    status: int
    cause: str
    remedy: str


_TOKEN = "Send the token of the shop as `Authorization: Bearer <token>`; an app may use `X-Shop-Access-Token`."  # noqa: S105
_ORDER = "Read the order to see its `status`, `payment_status`, fulfilments and refunds."

CODES: dict[str, Code] = {
    "bad_request": Code(
        400,
        "The request cannot be read: its `Content-Length` is no number, it has too many parameters, or it ended early.",
        "Check what your HTTP client sends, and send the request again.",
    ),
    "malformed_json": Code(
        400,
        "The body is not valid JSON, or not an object. `line` and `column` say where reading stopped.",
        "Send a JSON object in UTF-8, such as the one in the operation's example.",
    ),
    "token_missing": Code(401, "The request has no token.", _TOKEN),
    "token_malformed": Code(
        401,
        "The token does not have the form of a token, is a cart's token, or the header is not `Bearer <token>`.",
        "Copy the whole token, `api_` or `app_` and 57 characters, or 43 if it is older. " + _TOKEN,
    ),
    "token_unknown": Code(
        401,
        "No open shop has this token. It was revoked or replaced, or the app was uninstalled.",
        "Ask the merchant for a new token. An app stops calling until it is installed again.",
    ),
    "token_expired": Code(401, "The token was valid until a day that has passed.", "Ask the merchant for a new token."),
    "token_of_another_api": Code(
        401,
        "An API token was sent to `/api/apps`, which takes the tokens of installed apps.",
        "Use the token that the app got when it was installed, or call `/api/v1`.",
    ),
    "insufficient_scope": Code(
        403,
        "The token lacks a scope. `required_scopes` and `granted_scopes` tell them apart.",
        "Ask the merchant for a token, or the installation, with the scopes that are missing.",
    ),
    "not_found": Code(
        404,
        "The path does not exist, or the shop has nothing with this id.",
        "Compare the path with the operations of the API, and take ids from its answers. A record that was deleted is "
        "not found either.",
    ),
    "line_not_found": Code(
        404,
        "The cart has no line with this key. Without a usable `X-Cart-Token`, no cart has any.",
        "Send the cart's `cart_token` as `X-Cart-Token`, and take the key from `GET /api/v1/cart`.",
    ),
    "method_not_allowed": Code(405, "The path does not take this method.", "Use one that the `Allow` header lists."),
    "request_timeout": Code(
        408, "The body did not arrive in time.", "Send it again, in one piece and on a connection that is fast enough."
    ),
    "idempotency_in_flight": Code(
        409,
        "The first request with this `Idempotency-Key` is still being carried out, or was killed some seconds ago.",
        "Wait for the seconds of `Retry-After`, at most five, and send the same request with the same key again.",
    ),
    "idempotency_unreadable": Code(
        409,
        "The request was carried out, but its response can no longer be read.",
        "Read the resource to see what happened, and use a new key.",
    ),
    "precondition_failed": Code(
        412,
        "The record no longer has the `ETag` of `If-Match`, since somebody has changed it.",
        "Read it again, decide whether the change is still right, and send it with the new `ETag`.",
    ),
    "too_large": Code(413, "The body is larger than 1 MiB.", "Send less at once, over several requests."),
    "misdirected": Code(
        421,
        "The shop is served by another part of the deployment, and the proxy in front does not know that yet.",
        "Send the request again in a minute. Nothing was changed.",
    ),
    "unsupported_media_type": Code(
        415, "The body is not JSON by its `Content-Type`.", "Send `Content-Type: application/json`, in UTF-8."
    ),
    "invalid_fields": Code(
        422,
        "Members or parameters do not fit. `errors` has the messages by field, `problems` the same for programs.",
        "Correct all of the fields named, and send the request again.",
    ),
    "idempotency_mismatch": Code(
        422,
        "The `Idempotency-Key` was used for another request: another path, query, body or cart token.",
        "Use a new key for every new request, and the same key only to repeat one.",
    ),
    "product_unavailable": Code(
        422,
        "The shop has no such product or variant, or does not offer it now: a draft, unpublished, inactive or deleted.",
        "Read the product, and choose one that the catalogue shows.",
    ),
    "subscription_not_sold": Code(
        422,
        "The product, or one in the bundle, has a `billing_interval`. Subscriptions cannot be charged yet.",
        "Offer it without a `billing_interval`, or leave it out of the cart.",
    ),
    "variant_required": Code(
        422,
        "The product has variants, and none was chosen.",
        "Send the `variant_id` of one of the product's `variants`.",
    ),
    "option_required": Code(
        422,
        "A required option of the product was not chosen. `problems` names it and lists its values.",
        "Send `options` with the option's id and the id of a value, or a text.",
    ),
    "invalid_option": Code(
        422,
        "The product has no such option, or the option no such value. `problems` lists those that are allowed.",
        "Send the ids of the product's `options` and of their `values`.",
    ),
    "invalid_custom_price": Code(
        422,
        "The product does not take a custom price, or only a higher one.",
        "Leave `custom_price` out, or send at least the product's `min_custom_price`.",
    ),
    "insufficient_stock": Code(
        422, "Less is in stock than was asked for. `available` says how much.", "Ask for at most `available`."
    ),
    "invalid_cursor": Code(
        422,
        "`after` is no cursor of this list, or one of another list or shop.",
        "Send the `next` of an earlier answer of the same list, or `after` without a value to begin.",
    ),
    "cursor_expired": Code(
        422,
        "The cursor is from a copy that was not up to date for 30 days, or from before a backup was restored.",
        "Throw the copy away, and begin again: send `after` without a value.",
    ),
    "too_many_exports": Code(
        422,
        "Two exports of the shop are not finished.",
        "Wait until one is done or failed, and start the export again.",
    ),
    "cart_too_large": Code(
        422, "The cart has as many lines, or as much text, as a cart can have.", "Remove lines, or begin another cart."
    ),
    "total_too_large": Code(
        422, "The lines would come to more than 999,999,999,999.99, the largest amount.", "Add fewer pieces."
    ),
    "invalid_lines": Code(
        422,
        "Some of the lines cannot be added, so none was. `problems` says of each, by its position, which and why.",
        "Correct or leave out the lines named. `?dry_run=1` checks lines without adding them.",
    ),
    "discount_code_unknown": Code(
        422,
        "The shop does not have a discount code. `problems` names its position, such as `codes.0`.",
        "Ask the shopper for the code again. After many unknown codes, calls are refused for a while.",
    ),
    "gift_cards_refused": Code(
        422,
        "A gift card cannot be used. `problems` names the position of its code, such as `codes.0`, and why.",
        "Ask the shopper for the code again. After many unknown codes, calls are refused for a while.",
    ),
    "empty_cart": Code(
        422,
        "The cart has no lines, or `X-Cart-Token` is missing, unknown or expired.",
        "Send the `cart_token` of the response that added the product, as `X-Cart-Token`.",
    ),
    "nothing_available": Code(
        422,
        "No line of the cart can be bought at the moment, not even in a lower quantity. `problems` says why, by the "
        "lines' keys.",
        "Read the cart, and remove, lower or choose again what its `problems` name.",
    ),
    "origin_not_allowed": Code(
        422,
        "`return_url` or `cancel_url` is on an origin that the shop does not allow.",
        "Ask the merchant to add the origin in the admin, under Allowed origins, or leave the URL out.",
    ),
    "order_not_open": Code(422, "The order was fulfilled or cancelled already.", _ORDER),
    "order_partly_fulfilled": Code(
        422,
        "Part of the order was fulfilled: it cannot be cancelled.",
        "Fulfil the rest, or refund what is not sent.",
    ),
    "order_not_paid": Code(422, "Nothing was paid that could be refunded.", _ORDER),
    "order_still_open": Code(
        422, "An open order cannot be restocked by a refund.", "Cancel the order: that restocks its items."
    ),
    "order_not_payable": Code(422, "The order has no pending payment.", _ORDER),
    "refund_too_large": Code(422, "More was asked for than is left to refund.", _ORDER),
    "not_left_to_refund": Code(
        422, "The order's line has fewer items left to refund.", "Read the order, and refund at most what is left."
    ),
    "shipping_refund_too_large": Code(
        422, "More was asked for than is left to refund of the delivery.", "Refund at most what the message says."
    ),
    "gift_card_spent": Code(
        422,
        "A gift card that the line sold has been used.",
        "Refund fewer of them, or an amount without `lines` that the merchant agrees to.",
    ),
    "fulfilment_cancelled": Code(422, "The fulfilment was cancelled already.", _ORDER),
    "refund_declined": Code(
        422,
        "The payment gateway does not refund this payment.",
        "Refund it at the gateway itself, or in another way.",
    ),
    "not_left_to_fulfil": Code(
        422, "The order's line has fewer items left to fulfil.", "Read the order, and fulfil at most what is left."
    ),
    "preorder_not_due": Code(
        422,
        "All that is left of the order are pre-orders whose date is still to come.",
        "Wait until `available_from` of their lines, or name their lines and quantities to send them before.",
    ),
    "quota_reached": Code(
        422,
        "The shop has all that this deployment allows a shop: the message says what.",
        "Delete what is not needed, or ask the operator.",
    ),
    "part_of_bundle": Code(
        422, "The product is part of a bundle, so it cannot be deleted.", "Remove it from the bundle first."
    ),
    "too_many_extensions": Code(422, "The app has 20 extensions in the shop.", "Delete one that is not needed."),
    "too_many_script_tags": Code(422, "The app has 20 script tags in the shop.", "Delete one that is not needed."),
    "not_registered": Code(
        422, "The app no longer has a webhook for the topic.", "Register the webhook, and replay then."
    ),
    "not_replayable": Code(
        422, "The delivery is not that of an event.", "Replay deliveries of events, or events by their topic."
    ),
    "rate_limited": Code(
        429,
        "The token's calls of this minute are used up.",
        "Wait for the seconds of `Retry-After`. `X-RateLimit-Remaining` tells before how many calls are left.",
    ),
    "internal_error": Code(
        500,
        "A defect of the service.",
        "Tell the operator the `request_id`. Repeat a write with its `Idempotency-Key`.",
    ),
    "unavailable": Code(
        503,
        "The service is too busy, or cannot reach its database. Nothing was changed.",
        "Wait for the seconds of `Retry-After`, and send the request again.",
    ),
}

# The codes of an operation's own refusals, by the operation's name in the public API.
REFUSALS: dict[str, tuple[str, ...]] = {
    "add_to_cart": (
        "product_unavailable",
        "subscription_not_sold",
        "variant_required",
        "option_required",
        "invalid_option",
        "invalid_custom_price",
        "insufficient_stock",
        "cart_too_large",
        "total_too_large",
    ),
    "add_cart_lines": ("invalid_lines",),
    "update_cart_line": (
        "line_not_found",
        "insufficient_stock",
        "total_too_large",
        "product_unavailable",
        "subscription_not_sold",
    ),
    "remove_cart_line": ("line_not_found",),
    "set_discount_codes": ("discount_code_unknown",),
    "set_gift_cards": ("gift_cards_refused",),
    "create_checkout_link": ("empty_cart", "nothing_available", "origin_not_allowed"),
    "adjust_inventory": ("insufficient_stock",),
    "fulfil_order": ("order_not_open", "not_left_to_fulfil", "preorder_not_due"),
    "cancel_fulfilment": ("fulfilment_cancelled",),
    "cancel_order": ("order_not_open", "order_partly_fulfilled"),
    "refund_order": (
        "order_not_paid",
        "order_still_open",
        "refund_too_large",
        "refund_declined",
        "not_left_to_refund",
        "shipping_refund_too_large",
        "gift_card_spent",
    ),
    **{
        f"list_{name}": ("invalid_cursor", "cursor_expired")
        for name in ("products", "inventory", "orders", "customers")
    },
    "start_export": ("too_many_exports", "quota_reached"),
    "create_product": ("quota_reached",),
    "delete_product": ("part_of_bundle",),
    "register_extension": ("too_many_extensions",),
    "register_script_tag": ("too_many_script_tags",),
    "replay_delivery": ("not_registered", "not_replayable"),
}
_OF_ANY_CALL = CODES.keys() - {code for codes in REFUSALS.values() for code in codes}


def codes_of(operation: Operation, status: int) -> list[str]:
    """The codes with which the operation answers errors of this status."""
    own = _OF_ANY_CALL | set(REFUSALS.get(operation.view_func.__name__.removesuffix("_for_app"), ()))
    if not set(METHODS) & set(operation.methods):
        own -= {"idempotency_in_flight", "idempotency_mismatch", "idempotency_unreadable"}
    if not any(isinstance(auth, app_scope) for auth in operation.auth_callbacks):
        own -= {"token_of_another_api"}
    return [code for code, each in CODES.items() if each.status == status and code in own]


# The codes in `problems` besides those above, and what each means.
PROBLEMS: dict[str, str] = {
    "required": "The field is missing.",
    "invalid": "The value does not fit; the message says what was expected.",
    "wrong_type": "The value has another type, such as a string where a number is expected.",
    "wrong_format": "The text does not have the form that `pattern` describes.",
    "too_short": "The text or list is shorter than `min_length`.",
    "too_long": "The text or list is longer than `max_length`.",
    "too_small": "The number is below `minimum`, or not more than `more_than`.",
    "too_large": "The number is above `maximum`, or not less than `less_than`.",
    "not_allowed": "The value is none of those in `allowed`.",
    "nul_character": "The text contains the NUL character.",
    "gift_card_unknown": "The shop has no gift card with this code.",
    "gift_card_disabled": "The shop has disabled this gift card.",
    "gift_card_expired": "This gift card has expired.",
    "gift_card_used_up": "Nothing is left on this gift card.",
    "gift_card_other_currency": "This gift card is in another currency than the shop.",
    "use_endpoint": "The member is changed by another operation, which `endpoint` names.",
}
