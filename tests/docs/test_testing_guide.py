"""The commands in docs/testing.md, run as they stand on an empty machine, answer what the page says."""

import os
from pathlib import Path

import pytest

from tests.docs.guides import run_guide
from tests.server.programs import STOREFRONT, free_port, is_listening, running, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def test_the_guide_to_testing(tmp_path):
    port = str(free_port())
    given = {
        "STOREFRONT_DATA_DIR": str(tmp_path / "shop"),
        "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
        "PORT": port,
        "PATH": f"{Path(STOREFRONT).parent}:{os.environ['PATH']}",
    }
    servers = []

    def start(said: str, given: dict[str, str]) -> None:
        """What a reader does between the commands: takes the tokens out of the answers, starts the server."""
        if "api_" in said:
            given["TOKEN"] = said.strip()
        if "app_" in said and "APP" not in given:
            given["APP"] = said.strip().splitlines()[-1]
            settings = {name: value for name, value in given.items() if name.startswith("STOREFRONT_")}
            server = running("serve", "--port", port, log=tmp_path / "serve.log", **settings)
            servers.append(server)
            wait_until(lambda: is_listening(int(port)), what="the server", process=server.__enter__())

    try:
        assert run_guide("testing.md", given, after=start) == 6
    finally:
        for server in servers:
            server.__exit__(None, None, None)
