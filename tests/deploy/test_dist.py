"""`make dist` builds what a machine without the repository can install and start."""

import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.server.programs import clean_environment, free_port, is_listening, wait_until

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")

pytestmark = [pytest.mark.any_database, pytest.mark.proof, pytest.mark.timeout(900)]


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    given = clean_environment(**environment)
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=given)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """What is built while a file that is not committed lies beside the others."""
    folder = tmp_path_factory.mktemp("dist")
    stray = ROOT / "storefront" / "stray_file.txt"
    stray.write_text("not committed")
    try:
        done = run(sys.executable, ROOT / "bin/dist.py", "--to", folder)
    finally:
        stray.unlink()
    assert "not committed; they are left out" in done.stderr
    return folder


def test_only_what_is_committed_is_in_it(dist):
    (wheel,) = dist.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "storefront/stray_file.txt" not in names
    listed = run("git", "-C", ROOT, "ls-tree", "-r", "--name-only", "HEAD", "storefront").stdout.splitlines()
    assert set(listed) <= names
    run("sh", "-c", f"cd '{dist}' && sha256sum --check --strict SHA256SUMS")


def test_the_wheel_alone_starts_a_shop(dist, tmp_path):
    (wheel,) = dist.glob("*.whl")
    run(UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    run(UV, "pip", "install", "--quiet", "--python", python, "--requirements", dist / "requirements.txt")
    run(UV, "pip", "install", "--quiet", "--python", python, "--no-deps", wheel)
    storefront, settings = tmp_path / "venv/bin/storefront", {"STOREFRONT_DATA_DIR": str(tmp_path / "data")}
    run(storefront, "migrate", "--verbosity", "0", **settings)
    shop = ("--domain", "localhost", "--name", "Corner shop", "--base-url", "http://localhost")
    run(storefront, "createshop", *shop, **settings)
    port = free_port()
    serving = [storefront, "serve", "--port", str(port), "--no-worker"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(serving, env=clean_environment(**settings), cwd=tmp_path, stdout=log, stderr=log) as process,
    ):
        try:
            wait_until(lambda: is_listening(port), what="the server", process=process)
            with urllib.request.urlopen(f"http://localhost:{port}/", timeout=60) as answer:
                page = answer.read().decode()
        finally:
            process.terminate()
    # A template, a style that was collected, and rows of a migrated database.
    assert "Corner shop" in page
    assert 'href="/static/website/' in page
