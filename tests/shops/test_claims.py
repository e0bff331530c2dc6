"""A call whose process was killed does not hold its `Idempotency-Key` for long; one that runs does (R-CALL-23)."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from storefront.carts.models import Cart
from storefront.shops import claims
from storefront.shops.models import IdempotentAnswer
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.server.programs import running, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.rule("R-CALL-23")]
ROOT = Path(__file__).parents[2]
CALL = """
import time
from storefront.shops import claims, idempotency
from tests.client import ApiClient
claims.RENEW_SECONDS = 0.2
idempotency._carry_out = lambda *_: time.sleep(60)
ApiClient("{token}").post("/cart", {{"product_id": {product}, "qty": 1}}, Idempotency_Key="k1")
"""


@contextmanager
def carried_out_elsewhere(token: str, product: int, directory: Path) -> Iterator[subprocess.Popen]:
    """A call in another process on the tests' database, which has claimed its key and does not get further."""
    environment = {"STOREFRONT_DATA_DIR": str(directory), "PYTHONPATH": str(ROOT), "DATABASE_URL": database_url()}
    script = CALL.format(token=token, product=product)
    log = directory / "holder.log"
    with running("shell", "--no-imports", "-c", script, log=log, **environment) as process:
        wait_until(IdempotentAnswer.objects.exists, what="the claim", process=process)
        yield process


def database_url() -> str:
    name = connection.settings_dict["NAME"]
    server = os.environ.get("TEST_POSTGRES_URL")
    return f"{server.rpartition('/')[0]}/{name}" if server else f"sqlite:///{name}"


def test_it_is_known_within_five_seconds_whether_the_holder_lives():
    assert claims.LEASE + timedelta(seconds=1) <= timedelta(seconds=5)
    assert claims.LEASE.total_seconds() > claims.RENEW_SECONDS * 2


def test_a_killed_call_frees_its_key_after_the_lease_and_a_running_one_keeps_it(shop, api, tmp_path):
    """A call that begins later than the lease after the kill is not refused, however slow the machine is."""
    lease = claims.LEASE.total_seconds()
    mug = make_product(shop, stock_qty=9)

    def add():
        return ApiClient(api.token).post("/cart", {"product_id": mug.pk, "qty": 1}, Idempotency_Key="k1")

    with carried_out_elsewhere(api.token, mug.pk, tmp_path) as holder:
        until = time.monotonic() + 1.25 * lease
        while time.monotonic() < until:
            answer = add()
            assert answer.status_code == 409
            assert 1 <= int(answer["Retry-After"]) <= lease
            time.sleep(0.05)
        holder.kill()
        killed = began = time.monotonic()
        while (made := add()).status_code != 201:
            assert began - killed <= lease
            time.sleep(0.05)
            began = time.monotonic()
    assert Cart.objects.count() == 1
    assert add().content == made.content


def test_a_short_call_renews_nothing(shop, api, monkeypatch):
    renewed = []
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.1)
    monkeypatch.setattr(IdempotentAnswer.objects, "filter", lambda *a, **k: renewed.append(k))
    now = time.monotonic()
    monkeypatch.setattr(claims, "_held", {"claim": (now, 1)})
    claims._renew(now + 0.01)
    assert not renewed
