"""`make run`: migrates the database, creates a demo shop, prints its URLs and passwords, and starts server and worker.

All steps run in this process, since starting a command for each of them takes longer than the steps.
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
from django.core.checks import Tags, run_checks
from django.core.management import call_command

from storefront.server import cli
from storefront.server.metrics import directory

HOSTS = {"STOREFRONT_ADMIN_HOST": "admin", "STOREFRONT_SECURE_HOST": "secure"}
WELCOME = """
  The shop       {url}
  The admin      {admin_url}  as {admin_user}, password {admin_password}
  The checkout   {secure_url}
  An API token   {api_token}
  Emails         {mail}

Three calls to try in another terminal: list two products, add one to a cart, get the cart's checkout link.

curl -s '{url}api/v1/products?per_page=2' -H 'Authorization: Bearer {api_token}'

curl -s '{url}api/v1/cart' -H 'Authorization: Bearer {api_token}' -H 'X-Cart-Token: {cart_token}' \
-H 'Content-Type: application/json' -d '{line}'

curl -s -X POST '{url}api/v1/cart/checkout' -H 'Authorization: Bearer {api_token}' -H 'X-Cart-Token: {cart_token}'
"""
FALLBACK = """
Browsers and curl usually resolve names under localhost. If yours do not, run everything on one host, without apps'
scripts:
{command}
"""


def main() -> None:
    # The files made here contain passwords, emails and the database: other users must not read them.
    os.umask(0o077)
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default="8000")
    given = parser.parse_args()
    store_mail_in_files()
    # Apps that are tried out with the demo shop run on this machine too.
    os.environ.setdefault("STOREFRONT_ALLOW_PRIVATE_CALLBACKS", "1")
    # A demo shop needs no authenticator app.
    os.environ.setdefault("STOREFRONT_STAFF_SECOND_FACTOR", "none")
    use_separate_hosts(given.host, given.port)
    sys.exit(cli.exit_code_of(lambda: start(given.host, given.port)))


def use_separate_hosts(host: str, port: str) -> None:
    """Give the admin and the checkout their own hosts under localhost, which need no set-up. Does nothing if one of the
    variables is set, even to an empty value such as `STOREFRONT_ADMIN_HOST=`."""
    if local_name(host) == "localhost" and not os.environ.keys() & set(HOSTS):
        os.environ.update({variable: f"{name}.localhost:{port}" for variable, name in HOSTS.items()})


def local_name(host: str) -> str:
    """The host name by which a browser on this machine reaches the address that the server listens on."""
    return "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1", "localhost") else host


def store_mail_in_files() -> None:
    """Without a mail server, store the shop's emails in files: without emails, nobody could open an account."""
    if not os.environ.get("EMAIL_URL"):
        folder = Path(os.environ.get("STOREFRONT_DATA_DIR") or "var").absolute() / "mail"
        # Emails contain links to choose a password, so other users must not read them.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ["EMAIL_URL"] = f"filemail:///{folder}"


def start(host: str, port: str) -> int:
    directory.prepare()
    django.setup()
    from storefront.server import readiness

    if readiness.count_pending_migrations() or run_checks(tags=[Tags.database], databases=["default"]):
        cli.print_message("Preparing the database ...")
        call_command("migrate", verbosity=0)
    answer = io.StringIO()
    call_command("demo", "--base-url", f"http://{local_name(host)}:{port}", stdout=answer)
    demo = json.loads(answer.getvalue())
    demo["mail"] = (
        getattr(settings, "EMAIL_FILE_PATH", None) or f"goes out by {settings.EMAIL_HOST or settings.EMAIL_BACKEND}"
    )
    demo["admin_password"] = demo["admin_password"] or "as you chose it"
    print(WELCOME.format(**demo, **create_cart(demo["shop"])), flush=True)
    if settings.ADMIN_HOST:
        one_host = " ".join(f"{variable}=" for variable in HOSTS)
        print(FALLBACK.format(command=f"{one_host} {f'PORT={port} ' if port != '8000' else ''}make run"), flush=True)
    call_command("serve", "--host", host, "--port", port)
    return 0


def create_cart(domain: str) -> dict[str, Any]:
    """The token of a new cart with one line, and the JSON body of a call that adds another line."""
    from django.db.models import Q

    from storefront.carts.actions import add_line
    from storefront.kit import clock
    from storefront.listing.queries import published_products
    from storefront.server.command import find_shop

    shop, now = find_shop(domain), clock.now()
    in_stock = Q(stock_qty__gte=3) | Q(track_inventory=False)
    simple = published_products(shop, now).filter(in_stock, type="simple").exclude(options__required=True)
    products = list(simple.order_by("id").values_list("pk", flat=True)[:2])
    if not products:
        # Everything was sold or removed. The printed calls then have placeholders.
        return {"cart_token": "cart_...", "line": json.dumps({"product_id": 1, "qty": 1})}
    cart = add_line(shop=shop, now=now, product_id=products[0], qty=1)
    return {"cart_token": cart.token, "line": json.dumps({"product_id": products[-1], "qty": 1})}


if __name__ == "__main__":
    main()
