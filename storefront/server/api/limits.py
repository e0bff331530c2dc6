"""Adds tokens and limits to the description of each operation."""

from ninja.operation import Operation

from storefront.apps import extensions, scripts
from storefront.carts import models as carts
from storefront.carts import rules
from storefront.checkout import link
from storefront.shops.auth import app_scope, scope

_CART = (
    f"A cart has at most {rules.MAX_LINES} lines, a line at most {rules.MAX_QTY:,} pieces, the texts of all lines "
    f"together {rules.MAX_CART_TEXT // 1024} KiB. A cart ends {carts.LIFETIME.days} days after its last change."
)
# By the operation's name.
LIMITS: dict[str, str] = {
    "add_to_cart": _CART,
    "add_cart_lines": _CART,
    "update_cart_line": _CART,
    "create_checkout_link": f"A link works for {link.LIFETIME_SECONDS:,} seconds.",
    "list_products": "`q` has at most 200 characters.",
    "register_extension": f"An app can have {extensions.MAX_EXTENSIONS} extensions in a shop.",
    "register_script_tag": f"An app can have {scripts.MAX_SCRIPT_TAGS} script tags in a shop.",
}


def token_and_limits(operation: Operation) -> str:
    """A paragraph: which token the operation takes, with which scope, and its limits."""
    (auth,) = [each for each in operation.auth_callbacks if isinstance(each, scope)]
    token = "An app's token" if isinstance(auth, app_scope) else "An API token or an app's token"
    scopes = " and ".join(f"`{name}`" for name in auth.required)
    sentences = [f"**Token**: {token}{f' with {scopes}' if scopes else ', with any scopes'}."]
    limits = LIMITS.get(operation.view_func.__name__.removesuffix("_for_app"), "")
    if any(model.__ninja_param_source__ == "body" for model in operation.models):
        limits = f"The body has at most 1 MiB. {limits}".strip()
    return " ".join([*sentences, f"**Limits**: {limits}"] if limits else sentences)
