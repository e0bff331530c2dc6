"""The server stores which tokens were used, at the latest when it stops."""

import signal
import urllib.request

import pytest

from tests.databases import database
from tests.server.programs import free_port, is_listening, running, storefront, wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

LOOK = """
from storefront.shops.models import ApiToken
print([row.last_used_at is not None for row in ApiToken.objects.order_by("pk")])
"""


def test_token_use_of_two_processes_is_stored_when_they_stop(migrated, tmp_path):
    with database(tmp_path, copied_from=migrated) as environment:
        made = ["--domain", "s.example", "--name", "S", "--base-url", "https://s.example"]
        assert storefront("createshop", *made, **environment).returncode == 0
        scopes = ["--shop", "s.example", "--scopes", "read_products"]
        tokens = [storefront("createtoken", *scopes, **environment).stdout.strip() for _ in range(3)]
        port, log = free_port(), tmp_path / "serve.log"
        with running("serve", "--port", str(port), "--no-worker", "--workers", "2", log=log, **environment) as process:
            wait_until(lambda: is_listening(port), process=process, what="the server")
            for token in tokens[:2] * 10:
                headers = {"Authorization": f"Bearer {token}"}
                url = f"http://127.0.0.1:{port}/api/v1/products"
                with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
                    assert answer.status == 200
            process.send_signal(signal.SIGTERM)
            process.wait(20)
        seen = storefront("shell", "--no-imports", "-c", LOOK, **environment).stdout
        assert seen.strip() == "[True, True, False]"
