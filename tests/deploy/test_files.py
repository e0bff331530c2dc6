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
DOCKERFILES = [ROOT / "Dockerfile", ROOT / "deploy/pgbouncer/Dockerfile"]
MANIFESTS = sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
ANALYZE, NGINX = shutil.which("systemd-analyze"), shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
# Of systemd's scale from 0 (safe) to 10.
MAX_EXPOSURE = 2.0


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_images_are_built_by_clean_dockerfiles():
    done = run(Path(sys.executable).with_name("hadolint"), *DOCKERFILES)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_as_nobody_special_and_is_checked():
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER [1-9][0-9]*:[1-9][0-9]*$", text, re.MULTILINE)
    assert "/readyz" in text.partition("HEALTHCHECK")[2]
    assert "uv sync --frozen" in text


@pytest.fixture(scope="module")
def services() -> dict:
    # Its own reader knows no merge keys (`<<`).
    composed = PyCompose.from_yaml(yaml.safe_dump(yaml.safe_load((ROOT / "compose.yaml").read_text())))
    for part in ("services", "volumes", "networks"):
        getattr(composed, f"validate_{part}", lambda: None)()
    return composed.to_dict()["services"]


def test_compose_migrates_first_and_opens_the_proxy_alone(services):
    for name in ("web-1", "web-2", "worker", "backup"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert [name for name, service in services.items() if service.get("ports")] == ["proxy"]


def test_compose_updates_one_web_container_while_the_other_serves(services):
    # By one name, under which the proxy finds both.
    for name in ("web-1", "web-2"):
        assert services[name]["networks"]["default"]["aliases"] == ["web"]
        assert services["proxy"]["depends_on"][name]["condition"] == "service_healthy"
        assert "healthcheck" not in services[name], "the image's own asks /readyz"
    assert "{$UPSTREAM:web} 8000" in (ROOT / "deploy/Caddyfile").read_text()


def test_what_compose_runs_is_watched(services):
    for name, service in services.items():
        if name not in ("proxy", "migrate", "web-1", "web-2"):
            assert service["healthcheck"]["test"], name


def test_compose_pools_connections_and_its_web_processes_have_time_outs(services):
    for name in ("web-1", "web-2", "worker", "backup", "migrate"):
        environment = services[name]["environment"]
        role = "storefront_web" if name.startswith("web") else "storefront"
        assert environment["STOREFRONT_PGBOUNCER"] == "1"
        assert environment["DATABASE_URL"].startswith(f"postgres://{role}:")
        assert environment["DATABASE_URL"].endswith("@pooler:6432/storefront")
        assert environment["DATABASE_DIRECT_URL"].endswith("@database/storefront")


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_valid_and_hardened(unit, tmp_path):
    # The command is not where the unit says, unless this machine runs the service.
    own = tmp_path / unit.name
    own.write_text(
        unit.read_text()
        .replace("/srv/storefront/.venv/bin", str(Path(sys.executable).parent))
        .replace("/srv/storefront/deploy", str(ROOT / "deploy"))
    )
    checked = run(ANALYZE, "verify", own)
    assert (checked.returncode, checked.stderr) == (0, "")
    graded = run(ANALYZE, "security", "--offline=yes", f"--threshold={MAX_EXPOSURE * 10:.0f}", own)
    assert graded.returncode == 0, graded.stdout.splitlines()[-1]


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_the_timer_is_valid_and_daily(tmp_path):
    for unit in (ROOT / "deploy/systemd").glob("storefront-backup.*"):
        (tmp_path / unit.name).write_text(unit.read_text().replace("/srv/storefront/deploy", str(ROOT / "deploy")))
    timer = tmp_path / "storefront-backup.timer"
    checked = run(ANALYZE, "verify", timer)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert run(ANALYZE, "calendar", "*-*-* 03:10:00").returncode == 0
    assert "OnCalendar=*-*-* 03:10:00" in timer.read_text()


@pytest.mark.slow
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
    known = known_variables()
    text = (ROOT / "compose.yaml").read_text()
    used = set(re.findall(r"^    ([A-Z_]+):", text.partition("services:")[0], re.MULTILINE))
    assert used <= known
    assert used >= {"DATABASE_URL", "SECRET_KEY", "STOREFRONT_TRUSTED_PROXIES"}


@pytest.mark.slow
def test_manifests_are_valid():
    done = run(Path(sys.executable).with_name("kubernetes-validate"), "--strict", *MANIFESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_manifests_agree_with_each_other_and_with_the_settings():
    rows = [row for path in MANIFESTS for row in yaml.safe_load_all(path.read_text())]
    found = {(row["kind"], row["metadata"]["name"]): row for row in rows}
    web = found["Deployment", "storefront-web"]
    labels = web["spec"]["template"]["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget"):
        selector = found[kind, "storefront-web"]["spec"]["selector"]
        assert selector.get("matchLabels", selector).items() <= labels.items()
    # A pod that serves goes only after a new one serves.
    assert web["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    (container,) = web["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
    given = {*found["ConfigMap", "storefront"]["data"], *found["Secret", "storefront"]["stringData"]}
    assert {name for name in given if not name.startswith("AWS_")} <= known_variables()


def known_variables() -> set[str]:
    return set(re.findall(r"^\| `([A-Z0-9_]+)`", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE))
