"""The commands in docs/testing.md and docs/apps.md, run as they stand on a machine of their own, answer what the pages
say."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.guides import run_guide
from tests.server.programs import STOREFRONT, free_port, is_listening, running, storefront, wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.timeout(480)]


class Machine:
    """A reader's machine: its environment variables, and the server that is started on it."""

    def __init__(self, settings: dict[str, str], log: Path, stack: ExitStack) -> None:
        self.settings, self.log, self.stack = settings, log, stack
        self.port = free_port()
        self.given = settings | {
            "PORT": str(self.port),
            "SHOP": f"http://127.0.0.1:{self.port}",
            "PATH": f"{Path(STOREFRONT).parent}:{os.environ['PATH']}",
        }

    def serve(self) -> None:
        server = running("serve", "--no-worker", "--port", str(self.port), log=self.log, **self.settings)
        process = self.stack.enter_context(server)
        wait_until(lambda: is_listening(self.port), what="the server", process=process)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_the_guide_to_testing(tmp_path, stack):
    settings = {"STOREFRONT_DATA_DIR": str(tmp_path / "shop"), "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1"}
    machine = Machine(settings, tmp_path / "serve.log", stack)

    def go_on(said: str, given: dict[str, str]) -> None:
        """What a reader does between the commands: takes the tokens out of the answers, starts the server."""
        if "api_" in said:
            given["TOKEN"] = said.strip()
        if "app_" in said and "APP" not in given:
            given["APP"] = said.strip().splitlines()[-1]
            machine.serve()

    assert run_guide("testing.md", machine.given, after=go_on) == 6


def test_the_guide_to_apps(deployment, tmp_path, stack):
    shop = ["--domain", "shop.example.com", "--name", "Corner shop", "--base-url", "https://shop.example.com"]
    assert json.loads(storefront("createshop", *shop, **deployment).stdout)["name"] == "Corner shop"
    machine = Machine(deployment, tmp_path / "serve.log", stack)
    machine.serve()

    def take_token(said: str, given: dict[str, str]) -> None:
        if said.startswith("app_"):
            given["TOKEN"] = said.strip()

    assert run_guide("apps.md", machine.given, after=take_token) == 4
