"""The commands in docs/carts.md, run as they stand, answer what the page says."""

import os
import re
import subprocess
from pathlib import Path
from threading import Thread

import pytest
from werkzeug.serving import make_server

from storefront.server.wsgi import application
from storefront.shops.models import AllowedOrigin
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.shops.factories import make_token

PAGE = (Path(__file__).parents[2] / "docs" / "carts.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
# What a reader takes out of a response and uses in later commands.
TAKEN = {"CART": r'"cart_token":"(cart_[^"]+)"', "ETAG": r"(?i)^etag: (\S+)", "LINK": r'"checkout_url":"([^"]+)"'}


@pytest.fixture
def url():
    server = make_server("127.0.0.1", 0, application, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    server.server_close()


def parts(block: str) -> tuple[str, list[str]]:
    """The command, and the pieces of the response that the page shows, without the `...` between them."""
    shown = "".join(line[2:] for line in block.splitlines() if line.startswith("# "))
    return block, [piece for piece in shown.split("...") if piece]


@pytest.mark.django_db(transaction=True)
def test_each_command_answers_what_the_page_says(shop, url):
    AllowedOrigin.objects.create(shop=shop, origin="https://www.example.com")
    mug = make_product(shop, "Mug", price="9.50", stock_qty=10)
    pot = make_product(shop, "Pot", price="20.00", stock_qty=10)
    given = {"SHOP": url, "TOKEN": make_token(shop, "read_cart", "write_cart", "read_orders")}
    given |= {"MUG": str(mug.pk), "POT": str(pot.pk)}
    for block in BLOCKS:
        command, pieces = parts(block)
        script = ["bash", "-euc", command]
        said = subprocess.run(
            script, env={"PATH": os.environ["PATH"], **given}, capture_output=True, text=True, check=True, timeout=30
        ).stdout
        place = 0
        for piece in pieces:
            assert piece in said[place:], f"{command}\n{said}"
            place = said.index(piece, place) + len(piece)
        for name, pattern in TAKEN.items():
            if found := re.search(pattern, said, re.MULTILINE):
                given[name] = found[1]
        if '"checkout_url"' in said:
            shopper = Shopper(shop)
            shopper.arrive(given["LINK"])
            assert shopper.order().status_code == 303
    assert len(BLOCKS) == 9
