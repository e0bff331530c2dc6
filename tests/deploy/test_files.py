"""The files of a deployment are well-formed, harden what they run, and name settings and commands that exist."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from compose_spec import PyCompose

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
ANALYZE, NGINX = shutil.which("systemd-analyze"), shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
# Of systemd's scale from 0 (safe) to 10.
MAX_EXPOSURE = 2.0


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_image_is_built_by_a_clean_dockerfile():
    done = run(Path(sys.executable).with_name("hadolint"), ROOT / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_nobody_special_and_is_checked():
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER [1-9][0-9]*:[1-9][0-9]*$", text, re.MULTILINE)
    assert "/readyz" in text.partition("HEALTHCHECK")[2]
    assert "uv sync --frozen" in text


def test_compose_runs_two_of_each_and_migrates_first():
    # Its own reader knows no merge keys (`<<`).
    composed = PyCompose.from_yaml(yaml.safe_dump(yaml.safe_load((ROOT / "compose.yaml").read_text())))
    for part in ("services", "volumes", "networks"):
        getattr(composed, f"validate_{part}", lambda: None)()
    services = composed.to_dict()["services"]
    assert set(services) == {"proxy", "web", "worker", "migrate", "database", "redis"}
    for name in ("web", "worker"):
        assert services[name]["deploy"]["replicas"] == 2
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    # Only the proxy can be reached from outside.
    assert [name for name, service in services.items() if service.get("ports")] == ["proxy"]


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_valid_and_hardened(unit, tmp_path):
    # The command is not where the unit says, unless this machine runs the service.
    own = tmp_path / unit.name
    own.write_text(unit.read_text().replace("/srv/storefront/.venv/bin", str(Path(sys.executable).parent)).replace("/srv/storefront/deploy", str(ROOT / "deploy")))
    checked = run(ANALYZE, "verify", own)
    assert (checked.returncode, checked.stderr) == (0, "")
    graded = run(ANALYZE, "security", "--offline=yes", f"--threshold={MAX_EXPOSURE * 10:.0f}", own)
    assert graded.returncode == 0, graded.stdout.splitlines()[-1]


@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
def test_the_site_of_nginx_is_valid(tmp_path):
    subject = ("-subj", "/CN=shop.example.com", "-days", "1", "-nodes", "-newkey", "rsa:2048")
    made = run(
        "openssl", "req", "-x509", *subject, "-keyout", tmp_path / "privkey.pem", "-out", tmp_path / "fullchain.pem"
    )
    assert made.returncode == 0, made.stderr
    site = (ROOT / "deploy/nginx.conf").read_text()
    site = site.replace("/etc/ssl/storefront", str(tmp_path)).replace("/var/log/nginx", str(tmp_path))
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}}\nhttp {{\n{site}}}\n")
    checked = run(NGINX, "-t", "-q", "-c", whole)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_every_variable_of_the_service_exists():
    known = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE))
    text = (ROOT / "compose.yaml").read_text()
    used = set(re.findall(r"^    ([A-Z_]+):", text.partition("services:")[0], re.MULTILINE))
    assert used <= known
    assert used >= {"DATABASE_URL", "SECRET_KEY", "STOREFRONT_TRUSTED_PROXIES"}
