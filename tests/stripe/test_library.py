"""Stripe's library is large, and not every shop uses it."""

import subprocess
import sys

import pytest

from tests.server.programs import clean_environment

START = """
import sys
import django
django.setup()
import storefront.server.urls, storefront.server.worker.sweeps
from storefront.payments.providers.registry import PROVIDERS
PROVIDERS["stripe"].settings_form(), PROVIDERS["stripe"].csp
assert "stripe" not in sys.modules
from storefront.payments.providers.stripe_calls import open_client
open_client("sk_test_1")
assert not sys.modules["stripe"].enable_telemetry
"""


@pytest.mark.slow
def test_it_is_not_imported_before_it_is_used(tmp_path):
    own = {"DJANGO_SETTINGS_MODULE": "storefront.server.settings", "STOREFRONT_DATA_DIR": str(tmp_path)}
    made = subprocess.run(
        [sys.executable, "-c", START], env=clean_environment(**own), capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
