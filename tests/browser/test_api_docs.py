"""The page of the API's description shows each operation's example in three languages, which work."""

import json
import os
import subprocess
import sys
from shutil import which

import pytest

from storefront.server.api import examples
from tests.browser.conftest import NARROW, WIDE
from tests.catalogue.factories import make_product
from tests.shops.factories import make_token

pytestmark = pytest.mark.browser


def test_shows_an_operations_example_in_three_languages(street, visit):
    visitor = visit(WIDE)
    page = visitor.open("/api/docs")
    page.locator("#operations-Cart-add_to_cart .opblock-summary-control").click()
    operation = page.locator("#operations-Cart-add_to_cart")
    samples = operation.locator(".code-samples")
    assert 'curl -X POST "$SHOP/api/v1/cart"' in samples.locator("pre").inner_text()
    for language, part in (("Python", "requests.post("), ("TypeScript", "await fetch("), ("curl", "curl -X POST")):
        samples.get_by_role("tab", name=language).click()
        assert part in samples.locator("pre").inner_text()
        assert samples.get_by_role("tab", selected=True).inner_text() == language
    visitor.photograph("api-docs")


def test_every_code_is_explained_where_an_error_leads(street, visit):
    visitor = visit(NARROW)
    page = visitor.open("/api/docs/errors#insufficient_stock")
    assert "Ask for at most" in page.locator(":target").inner_text()
    visitor.photograph("api-errors")


def test_the_samples_work_as_they_stand(live_server, transactional_db, shop):
    make_product(shop, "Stoneware mug", pk=101, stock_qty=40)
    given = os.environ | {"SHOP": live_server.url, "TOKEN": make_token(shop), "CART_TOKEN": ""}
    for name in ("list_products", "add_to_cart"):
        details = {"requestBody": {"content": {"application/json": {}}}}
        details["responses"] = {examples.EXAMPLES[name]["status"]: {"content": {"application/json": {}}}}
        examples.add_example(name, details)
        samples = {each["label"]: each["source"] for each in details["x-codeSamples"]}
        commands = [["bash", "-c", samples["curl"]], [sys.executable, "-c", samples["Python"]]]
        if which("node"):
            commands.append(["node", "--input-type=module", "-e", samples["TypeScript"]])
        for command in commands:
            done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            assert "Stoneware mug" in done.stdout
        assert json.loads(subprocess.run(commands[0], env=given, capture_output=True, check=True).stdout)
