"""`make run`: a migrated database, a demo shop with its addresses and credentials, and the server with its worker.

All of it happens in this one process, since a command of its own for each step would start up longer than it works.
"""

import argparse
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command

from storefront.server import cli

WELCOME = """
  The shop       {url}
  The admin      {admin_url}  as {admin_user}, password {admin_password}
  An API token   {api_token}
  Its mail       {mail}

Three calls to paste into another terminal: read two products, add one to a cart, ask for the cart's checkout link.

curl -s '{url}api/v1/products?per_page=2' -H 'Authorization: Bearer {api_token}'

curl -s '{url}api/v1/cart' -H 'Authorization: Bearer {api_token}' -H 'X-Cart-Token: {cart_token}' \
-H 'Content-Type: application/json' -d '{line}'

curl -s -X POST '{url}api/v1/cart/checkout' -H 'Authorization: Bearer {api_token}' -H 'X-Cart-Token: {cart_token}'
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default="8000")
    given = parser.parse_args()
    keep_mail()
    # Whatever is tried out together with the demo shop runs on this machine too.
    os.environ.setdefault("STOREFRONT_ALLOW_PRIVATE_CALLBACKS", "1")
    sys.exit(cli.explained(lambda: start(given.host, given.port)))


def keep_mail() -> None:
    """Without a mail server, put what the shop sends into files: an account begins with a mail."""
    if not os.environ.get("EMAIL_URL"):
        folder = Path(os.environ.get("STOREFRONT_DATA_DIR") or "var").absolute() / "mail"
        # Links to choose a password are nobody else's business.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ["EMAIL_URL"] = f"filemail:///{folder}"


def start(host: str, port: str) -> int:
    django.setup()
    from storefront.server import readiness

    if readiness.waiting_migrations():
        cli.say("Preparing the database ...")
        call_command("migrate", verbosity=0)
    name = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
    answer = io.StringIO()
    call_command("demo", "--base-url", f"http://{name}:{port}", stdout=answer)
    demo = json.loads(answer.getvalue())
    demo["mail"] = (
        getattr(settings, "EMAIL_FILE_PATH", None) or f"goes out by {settings.EMAIL_HOST or settings.EMAIL_BACKEND}"
    )
    demo["admin_password"] = demo["admin_password"] or "as you chose it"
    print(WELCOME.format(**demo, **begin_cart(demo["shop"])), flush=True)
    call_command("serve", "--host", host, "--port", port)
    return 0


def begin_cart(domain: str) -> dict[str, Any]:
    """A cart with one line, and the body of a call that adds another, so that each printed call works by itself."""
    from django.db.models import Q

    from storefront.carts.actions import add_line
    from storefront.catalogue.queries import published_products
    from storefront.kit import clock
    from storefront.server.command import shop_named

    shop, now = shop_named(domain), clock.now()
    in_stock = Q(stock_qty__gte=3) | Q(track_inventory=False)
    simple = published_products(shop, now).filter(in_stock, type="simple").exclude(options__required=True)
    products = list(simple.order_by("id").values_list("pk", flat=True)[:2])
    if not products:
        # Whoever sold or took out everything has a shop of their own by now; the calls then show how they look.
        return {"cart_token": "cart_...", "line": json.dumps({"product_id": 1, "qty": 1})}
    cart = add_line(shop=shop, now=now, product_id=products[0], qty=1)
    return {"cart_token": cart.token, "line": json.dumps({"product_id": products[-1], "qty": 1})}


if __name__ == "__main__":
    main()
