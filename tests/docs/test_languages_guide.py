"""The commands and calls of the page about languages, run as they stand against a server, answer what the page says."""

import os
import sys
from pathlib import Path

import pytest

from tests.docs.guides import run_guide
from tests.server.test_serve import serving

pytestmark = [pytest.mark.any_database, pytest.mark.slow]


def test_the_guide_to_languages(deployment, tmp_path):
    with serving(deployment, "--no-worker") as server:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        place = {"SHOP": f"http://localhost:{server.port}", "DOMAIN": "localhost"}
        assert run_guide("languages.md", deployment | place | {"PATH": path}, folder=tmp_path) == 4
