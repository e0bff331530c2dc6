"""Sixty mistakes that people make when they use the API, and what each is answered with.

`test_mistakes.py` makes each of them and writes `docs/reference/mistakes.md`.
"""

from dataclasses import dataclass, field
from typing import Any

MUG, SHIRT, RING, DRAFT, BOX, ELSEWHERE, PART, BUNDLE = range(101, 109)
BLUE, HERS, ENGRAVING, GOLD, CUSTOMER = 201, 202, 301, 302, 401
# An id that nothing has.
NONE = 999


@dataclass(frozen=True)
class Mistake:
    """A call, and the code of its answer. `help` are words of the answer that tell the next step. Placeholders such as
    `{cart}` stand for the world's. A `body` of bytes is sent as it is."""

    what: str
    call: str
    code: str
    help: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    who: str = "api"


CART = "POST /api/v1/cart"
JSON = {"Content-Type": "application/json"}
MUG_BODY = {"product_id": MUG, "qty": 1}


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": text}


MISTAKES = [
    # Tokens.
    Mistake("No token", "GET /api/v1/products", "token_missing", "Authorization: Bearer", who="nobody"),
    Mistake(
        "The token in the query",
        "GET /api/v1/products?access_token={token}",
        "token_missing",
        "Authorization: Bearer",
        who="nobody",
    ),
    Mistake(
        "The word `Token` instead of `Bearer`",
        "GET /api/v1/products",
        "token_malformed",
        "must be `Bearer <token>`",
        headers=bearer("Token {token}"),
    ),
    Mistake(
        "Basic authentication",
        "GET /api/v1/products",
        "token_malformed",
        "must be `Bearer <token>`",
        headers=bearer("Basic YXBpOnNlY3JldA=="),
    ),
    Mistake(
        "A token that was cut off",
        "GET /api/v1/products",
        "token_malformed",
        "57 characters",
        headers=bearer("Bearer api_4kXb"),
    ),
    Mistake(
        "The placeholder of an example",
        "GET /api/v1/products",
        "token_malformed",
        "57 characters",
        headers=bearer("Bearer <token>"),
    ),
    Mistake(
        "The cart's token as the access token",
        "GET /api/v1/cart",
        "token_malformed",
        "X-Cart-Token",
        headers=bearer("Bearer {cart}"),
    ),
    Mistake(
        "The access token as the cart's token",
        "GET /api/v1/cart",
        "token_missing",
        "not as X-Cart-Token",
        headers={"X-Cart-Token": "{token}"},
        who="nobody",
    ),
    Mistake(
        "A token of another deployment",
        "GET /api/v1/products",
        "token_unknown",
        "revoked or replaced",
        headers=bearer("Bearer api_" + "x" * 43),
    ),
    Mistake("A token that was revoked", "GET /api/v1/products", "token_unknown", "revoked or replaced", who="revoked"),
    Mistake("A token that has expired", "GET /api/v1/products", "token_expired", "Ask the merchant", who="expired"),
    Mistake("A shop's API token at the App API", "GET /api/apps/shop", "token_of_another_api", "X-Shop-Access-Token"),
    Mistake("A token without the scope", CART, "insufficient_scope", "write_cart", MUG_BODY, who="reader"),
    # Paths and methods.
    Mistake("A slash at the end", "GET /api/v1/products/", "not_found", "Did you mean /api/v1/products?"),
    Mistake("No version", "GET /api/products", "not_found", "Did you mean /api/v1/products?"),
    Mistake("Another version", "GET /api/v2/cart", "not_found", "Did you mean /api/v1/cart?"),
    Mistake("A product of another shop", f"GET /api/v1/products/{ELSEWHERE}", "not_found", "Not found."),
    Mistake("A draft, in the public catalogue", f"GET /api/v1/products/{DRAFT}", "not_found", "Not found."),
    Mistake("An order by its number", "GET /api/v1/orders/2026-1001", "not_found", "Not found."),
    Mistake(
        "Writing a product with the public API",
        f"PATCH /api/v1/products/{MUG}",
        "method_not_allowed",
        "not allowed",
        {"name": "Cup"},
    ),
    Mistake("PUT instead of PATCH", "PUT /api/v1/customers/401", "method_not_allowed", "not allowed", {"name": "Ada"}),
    Mistake("GET of a checkout link", "GET /api/v1/cart/checkout", "method_not_allowed", "not allowed"),
    # Bodies.
    Mistake("A comma too many", CART, "malformed_json", "line 1, column", b'{"product_id": 101, "qty": 1,}', JSON),
    Mistake("Single quotes", CART, "malformed_json", "line 1, column 2", b"{'product_id': 101}", JSON),
    Mistake(
        "A body that was cut off", CART, "malformed_json", "line 2, column", b'{"product_id": 101,\n "qty": ', JSON
    ),
    Mistake(
        "Python's `None`",
        CART,
        "malformed_json",
        "line 1, column",
        b'{"product_id": 101, "qty": 1, "variant_id": None}',
        JSON,
    ),
    Mistake("`NaN`", CART, "malformed_json", "line 1, column", b'{"product_id": 101, "qty": NaN}', JSON),
    Mistake("A list instead of an object", CART, "malformed_json", "must be a JSON object", b"[]", JSON),
    Mistake(
        "A form instead of JSON",
        CART,
        "unsupported_media_type",
        "application/json",
        b"product_id=101&qty=1",
        {"Content-Type": "application/x-www-form-urlencoded"},
    ),
    Mistake("No body", CART, "invalid_fields", "must be a JSON object", b"", JSON),
    # Members.
    Mistake(
        "Another spelling of a member", CART, "invalid_fields", "product_id is required.", {"productId": MUG, "qty": 1}
    ),
    Mistake(
        "An id as a string",
        CART,
        "invalid_fields",
        "product_id must be a whole number.",
        {"product_id": "101", "qty": 1},
    ),
    Mistake("A quantity of 0", CART, "invalid_fields", "qty must be 1 or more.", {"product_id": MUG, "qty": 0}),
    Mistake(
        "A quantity with a fraction",
        CART,
        "invalid_fields",
        "qty must be a whole number.",
        {"product_id": MUG, "qty": 1.5},
    ),
    Mistake(
        "A number without end",
        CART,
        "invalid_fields",
        "qty is too large.",
        b'{"product_id": 101, "qty": 1%s}' % (b"0" * 400),
        JSON,
    ),
    Mistake("Two mistakes at once", CART, "invalid_fields", "qty must be", {"product_id": "mug", "qty": -1}),
    Mistake(
        "Money as a number", CART, "invalid_fields", "custom_price", {"product_id": BOX, "qty": 1, "custom_price": 5.5}
    ),
    Mistake(
        "Money with a comma",
        CART,
        "invalid_fields",
        "custom_price",
        {"product_id": BOX, "qty": 1, "custom_price": "5,50"},
    ),
    Mistake(
        "Options as a list",
        CART,
        "invalid_fields",
        "options must be an object.",
        {"product_id": RING, "qty": 1, "options": [GOLD]},
    ),
    Mistake("`page=0`", "GET /api/v1/products?page=0", "invalid_fields", "page must be an integer of at least 1."),
    Mistake("An unknown order of a list", "GET /api/v1/products?sort=price", "invalid_fields", "price_asc"),
    Mistake(
        "A time without an offset",
        "GET /api/v1/products?updated_since=2026-11-21T07:30:00",
        "invalid_fields",
        "2026-11-21T07:30:00",
    ),
    Mistake(
        "A `+` in a query that is not encoded",
        "GET /api/v1/products?updated_since=2026-11-21T07:30:00+01:00",
        "invalid_fields",
        "%2B",
    ),
    Mistake(
        "A customer without an email address", "POST /api/v1/customers", "invalid_fields", "email", {"name": "Ada"}
    ),
    Mistake("An email address that is none", "POST /api/v1/customers", "invalid_fields", "email", {"email": "ada"}),
    Mistake(
        "An email address that a customer has",
        "POST /api/v1/customers",
        "invalid_fields",
        "email",
        {"email": "ada@example.com"},
    ),
    Mistake(
        "null for what cannot be empty", f"PATCH /api/v1/customers/{CUSTOMER}", "invalid_fields", "note", {"note": None}
    ),
    # Carts.
    Mistake(
        "A product that does not exist", CART, "product_unavailable", "not available", {"product_id": NONE, "qty": 1}
    ),
    Mistake(
        "A variant of another product",
        CART,
        "product_unavailable",
        '"allowed"',
        {"product_id": SHIRT, "qty": 1, "variant_id": HERS},
    ),
    Mistake(
        "A product with variants, and none chosen",
        CART,
        "variant_required",
        '"allowed"',
        {"product_id": SHIRT, "qty": 1},
    ),
    Mistake("A required option left out", CART, "option_required", '"option_id"', {"product_id": RING, "qty": 1}),
    Mistake(
        "An option by its name",
        CART,
        "invalid_option",
        '"allowed"',
        {"product_id": RING, "qty": 1, "options": {"Metal": "Gold"}},
    ),
    Mistake(
        "An option's value by its name",
        CART,
        "invalid_option",
        '"allowed"',
        {"product_id": RING, "qty": 1, "options": {"301": "Gold"}},
    ),
    Mistake(
        "A price below the minimum",
        CART,
        "invalid_custom_price",
        "at least 5.00",
        {"product_id": BOX, "qty": 1, "custom_price": "1.00"},
    ),
    Mistake(
        "A custom price where none is allowed",
        CART,
        "invalid_custom_price",
        "does not accept",
        {"product_id": MUG, "qty": 1, "custom_price": "1.00"},
    ),
    Mistake("More than is in stock", CART, "insufficient_stock", '"available"', {"product_id": MUG, "qty": 50}),
    Mistake(
        "A discount code that the shop does not have",
        "PUT /api/v1/cart/discount-codes",
        "discount_code_unknown",
        "not valid",
        {"codes": ["SPRIGN10"]},
    ),
    Mistake(
        "A gift card that the shop does not have",
        "PUT /api/v1/cart/gift-cards",
        "gift_cards_refused",
        "not valid",
        {"codes": ["2222-2222-2222-2222-2222"]},
    ),
    Mistake(
        "A line of a cart whose token was forgotten",
        f"PATCH /api/v1/cart/p{MUG}",
        "line_not_found",
        "X-Cart-Token",
        {"qty": 2},
    ),
    Mistake("A checkout without the cart's token", "POST /api/v1/cart/checkout", "empty_cart", "X-Cart-Token"),
    Mistake(
        "A cart's token that has expired",
        "POST /api/v1/cart/checkout",
        "empty_cart",
        "X-Cart-Token",
        headers={"X-Cart-Token": "cart_" + "x" * 43},
    ),
    # Retries and races.
    Mistake(
        "A key used for another request",
        CART,
        "idempotency_mismatch",
        "different request",
        {"product_id": MUG, "qty": 2},
        {"Idempotency-Key": "k1"},
    ),
    Mistake("An empty key", CART, "invalid_fields", "1 to 255 characters", MUG_BODY, {"Idempotency-Key": ""}),
    Mistake(
        "A change of what somebody has changed since",
        f"PATCH /api/v1/customers/{CUSTOMER}",
        "precondition_failed",
        "Read it again",
        {"name": "Eve"},
        {"If-Match": "{etag}"},
    ),
    # Orders and products.
    Mistake(
        "Cancelling by setting the status",
        "PATCH /api/v1/orders/{order}",
        "invalid_fields",
        "/cancellation",
        {"status": "cancelled"},
    ),
    Mistake(
        "Cancelling what was fulfilled",
        "POST /api/v1/orders/{fulfilled}/cancellation",
        "order_not_open",
        "open order",
        {},
    ),
    Mistake("Refunding what was not paid", "POST /api/v1/orders/{order}/refunds", "order_not_paid", "paid", {}),
    Mistake(
        "Fulfilling more than was ordered",
        "POST /api/v1/orders/{order}/fulfilments",
        "not_left_to_fulfil",
        "left to fulfil",
        {"lines": [{"line_id": "{line}", "qty": 9}]},
    ),
    Mistake(
        "Stock by `delta` and `set` at once",
        "POST /api/v1/inventory/adjustments",
        "invalid_fields",
        "either delta or set",
        {"product_id": MUG, "delta": 1, "set": 2, "reason": "count"},
    ),
    Mistake(
        "Deleting a part of a bundle",
        f"DELETE /api/apps/products/{PART}",
        "part_of_bundle",
        "Remove it from the bundle",
        who="app",
    ),
    Mistake(
        "A product's price as a number",
        "POST /api/apps/products",
        "invalid_fields",
        "price",
        {"name": "Cup", "price": 9.5},
        who="app",
    ),
    Mistake(
        "A webhook without `https://`",
        "POST /api/apps/webhooks",
        "invalid_fields",
        "address",
        {"topic": "order.placed", "address": "app.example.com/hook"},
        who="app",
    ),
    Mistake(
        "A topic that does not exist",
        "POST /api/apps/webhooks",
        "invalid_fields",
        "topic",
        {"topic": "order.created", "address": "https://app.example.com/hook"},
        who="app",
    ),
]
