"""The client in docs/sync.md, copied verbatim, keeps a copy."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
import time_machine
from werkzeug.serving import make_server

from storefront.catalogue import actions
from storefront.kit import clock
from storefront.server.wsgi import application
from tests.catalogue.factories import make_public
from tests.client import ApiClient
from tests.shops.factories import make_token

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = Path(__file__).parents[2] / "docs" / "sync.md"
(CLIENT,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def served() -> Iterator[str]:
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    server.server_close()
    thread.join()
    application.cache.clear()


@pytest.mark.slow
@pytest.mark.rule("R-SYNC-14")
def test_the_guides_client_keeps_a_copy_and_begins_again_when_its_cursor_has_expired(
    shop, other_shop, served, tmp_path
):
    for owner in (shop, other_shop):
        for n in range(3):
            make_public(owner, f"Mug {n}")
    token = make_token(shop, "read_products")
    names: dict = {}
    exec(CLIENT, names)

    def opened():
        # As after a crash: another object, the same file.
        return names["ShopCopy"](served, token, "products", str(tmp_path / "copy.sqlite3"), per_page="2")

    def names_after_update() -> list[str]:
        copy = opened()
        copy.update()
        return [record["name"] for record in copy.records()]

    assert names_after_update() == ["Mug 0", "Mug 1", "Mug 2"]
    first, second, third = shop.products.order_by("pk")
    actions.update_product(shop=shop, product=first, name="Cup", now=clock.now())
    actions.delete_product(shop=shop, product=second, now=clock.now())
    assert names_after_update() == ["Cup", "Mug 2"]
    with time_machine.travel(clock.now() + timedelta(days=31), tick=False):
        actions.delete_product(shop=shop, product=third, now=clock.now())
        opened().database.execute("INSERT INTO record VALUES (99999, '{}')").connection.commit()
        assert names_after_update() == ["Cup"]


@pytest.mark.rule("R-SYNC-15", "R-SYNC-16")
def test_the_guides_calls_answer_as_it_says(shop):
    api = ApiClient(make_token(shop, "read_products"))
    mug, bowl = make_public(shop, "Mug"), make_public(shop, "Bowl")
    body = api.get(f"/products?fields=id,name,price&include=variants&ids={mug.pk},{bowl.pk}").json()
    assert body["data"][-1] == {"id": mug.pk, "name": "Mug", "price": "9.50", "variants": []}
    assert api.post("/exports", {"kind": "products", "include": ["variants"]}).json()["data"]["state"] == "waiting"
