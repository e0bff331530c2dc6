"""Starts the fake, and steers it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.stripe.fake import PUBLISHABLE_KEY, SECRET_KEY, WEBHOOK_SECRET

KEYS = {"publishable_key": PUBLISHABLE_KEY, "secret_key": SECRET_KEY, "webhook_secret": WEBHOOK_SECRET}


@dataclass(frozen=True)
class FakeStripe:
    """The fake at this address."""

    url: str

    def __call__(self, control: str, **given: Any) -> Any:
        body = json.dumps(given).encode()
        with urlopen(Request(f"{self.url}/_control/{control}", data=body), timeout=30) as answer:
            return json.loads(answer.read())

    @property
    def script(self) -> str:
        return f"{self.url}/endive/stripe.js"

    def objects(self, kind: str) -> list[dict[str, Any]]:
        """All objects of a kind, newest first."""
        return [each for each in reversed(self("seen")["objects"].values()) if each["object"] == kind]

    def intent(self) -> dict[str, Any]:
        """The newest PaymentIntent."""
        return self.objects("payment_intent")[0]

    def calls(self) -> list[dict[str, Any]]:
        return self("seen")["calls"]

    def fail(self, call: str, how: str) -> None:
        """Answer the next such call, as `POST /v1/refunds`, so: silent_before, silent_after, slow or broken; or
        lost, which carries out a POST and drops the connection, so that nobody waits for the deadline."""
        self("configure", faults=[{"call": call, "how": how, "times": 1}])


@contextmanager
def running_fake() -> Iterator[FakeStripe]:
    command = [sys.executable, "-m", "tests.stripe.fake"]
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout
        try:
            yield FakeStripe(process.stdout.readline().strip())
        finally:
            process.kill()
