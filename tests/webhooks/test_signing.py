"""Signatures are verified by standard libraries: in Python, and in JavaScript if Node is installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from storefront.kit import clock
from storefront.webhooks.signing import new_secret, sign

BODY = '{"id": "1", "data": {"name": "Café ☕"}}'.encode()
VERIFY = """
const { Webhook } = require("standardwebhooks");
const { secret, body, headers } = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(new Webhook(secret).verify(body, headers)));
"""


@pytest.mark.rule("R-HOOK-8")
def test_the_python_library_verifies_a_signature():
    secret = new_secret()
    headers = sign(id="m1", body=BODY, secrets=[secret], now=clock.now())
    assert set(headers) == {"webhook-id", "webhook-timestamp", "webhook-signature"}
    assert headers["webhook-signature"].startswith("v1,")
    assert Webhook(secret).verify(BODY, headers)["data"]["name"] == "Café ☕"


@pytest.mark.parametrize("part", ["webhook-id", "webhook-timestamp", "body"])
def test_a_changed_message_is_not_verified(part):
    secret, body = new_secret(), BODY
    headers = sign(id="m1", body=BODY, secrets=[secret], now=clock.now())
    if part == "body":
        body = BODY.replace(b"Caf", b"Kaf")
    else:
        headers[part] = {"webhook-id": "m2", "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}[part]
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


@pytest.mark.rule("R-HOOK-8", "R-APP-7")
def test_both_secrets_verify_during_a_rotation():
    secrets = [new_secret(), new_secret()]
    headers = sign(id="m1", body=BODY, secrets=secrets, now=clock.now())
    assert len(headers["webhook-signature"].split(" ")) == 2
    for secret in secrets:
        Webhook(secret).verify(BODY, headers)


def test_secrets_are_long_and_random():
    found = {new_secret() for _ in range(100)}
    assert len(found) == 100
    assert {len(secret) for secret in found} == {len("whsec_") + 44}


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-8")
def test_the_javascript_library_verifies_a_signature():
    node, library = shutil.which("node"), Path(sys.prefix) / "node" / "node_modules"
    if not (node and library.exists()):
        pytest.skip("there is no Node here, or bin/test.py could not fetch the library for it")
    secrets = [new_secret(), new_secret()]
    headers = sign(id="m1", body=BODY, secrets=secrets, now=clock.now())
    forged = headers | {"webhook-id": "m2"}
    for secret in secrets:
        assert json.loads(verified(node, library, secret, headers).stdout) == json.loads(BODY)
        assert "No matching signature" in verified(node, library, secret, forged).stderr


def verified(node: str, library: Path, secret: str, headers: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node, "-e", VERIFY],
        input=json.dumps({"secret": secret, "body": BODY.decode(), "headers": headers}),
        env=os.environ | {"NODE_PATH": str(library)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
