"""docs/vps.md, followed to the letter on a bare Debian, ends with a shop that sells, and nothing missing.

Stand-ins, since one machine without internet has no more: Caddy's own certificates, `systemctl.py`, a mail server of
the tests, and /etc/hosts as the DNS.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deploy.machines import Machine, missing_tools

ROOT = Path(__file__).parents[2]
NAMES = "shop.example.com admin.example.com secure.example.com"
MAILBOX = """
import json, sys
from tests.mailbox import open_mailbox
with open_mailbox() as mailbox:
    print(mailbox.port, flush=True)
    for _ in sys.stdin:
        print(json.dumps([str(mail["To"]) + ": " + str(mail["Subject"]) for mail in mailbox.messages]), flush=True)
"""

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.proof,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(bool(missing_tools()), reason=f"missing here: {', '.join(missing_tools())}"),
]


def blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (ROOT / "docs/vps.md").read_text(), re.DOTALL)


@contextmanager
def mail_server(machine: Machine) -> Iterator[subprocess.Popen[str]]:
    command = ["nsenter", f"--target={machine.inside}", "--net", sys.executable, "-c", MAILBOX]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield server
        server.kill()


def mails(server: subprocess.Popen[str]) -> list[str]:
    assert server.stdin
    assert server.stdout
    server.stdin.write("\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


@pytest.fixture
def machine(tmp_path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "debian")
    machine.install("bookworm")
    subprocess.run([sys.executable, ROOT / "bin/dist.py", "--to", tmp_path], check=True, timeout=300)
    shutil.copy(next(tmp_path.glob("*.tar.gz")), machine.root / "root")
    shutil.copy(ROOT / "tests/deploy/systemctl.py", machine.root / "usr/local/bin/systemctl")
    (machine.root / "usr/local/bin/systemctl").chmod(0o755)
    with (machine.root / "etc/hosts").open("a") as hosts:
        hosts.write(f"127.0.0.1 localhost {NAMES}\n")
    yield machine
    shutil.rmtree(machine.root, ignore_errors=True)


def test_the_page_leads_from_a_bare_debian_to_a_shop(machine):
    names, packages, *steps = blocks()
    machine.run(names + packages, seconds=900)
    # In the archive, every file is from 2020, by which `make setup` would take an update for what it has made already.
    lock, ready = (machine.root / "srv/storefront" / name for name in ("uv.lock", ".venv/.ready"))
    assert ready.stat().st_mtime - lock.stat().st_mtime < 3600
    follow(machine, names, *steps)


def follow(machine: Machine, names: str, settings: str, start: str, shop: str, backups: str, doctor: str) -> None:
    """What the page says after the installation, on a machine that has booted."""
    with machine.booted(), mail_server(machine) as server:
        assert server.stdout
        names += f"export MAIL=smtp://127.0.0.1:{server.stdout.readline().strip()}\n"
        # The package chose another port if the machine that runs this test has a PostgreSQL.
        port = "sed -i 's/^port = .*/port = 5432/' /etc/postgresql/*/main/postgresql.conf"
        machine.run(f"{port}; service postgresql start", seconds=60)
        machine.run(names + settings, seconds=240)
        machine.run(names + start, seconds=60)
        # What browsers have for Let's Encrypt.
        authority = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"
        machine.run(until(f"[ -s {authority} ]") + f"cat {authority} >> /etc/ssl/certs/ca-certificates.crt", seconds=70)
        assert '"domain":"shop.example.com"' in machine.run(names + shop, seconds=60)
        restored = machine.run(names + backups, seconds=240)
        assert "Everything agrees." in restored
        assert "can be restored" in restored
        machine.run(until("(exec 3<>/dev/tcp/127.0.0.1/8000) 2> /dev/null"), seconds=70)
        findings = machine.run(names + doctor, seconds=120)
        outcomes = {tuple(line.split()[:2]) for line in findings.splitlines()}
        # The stand-in's certificates last for half a day.
        assert {each for each in outcomes if each[0] != "ok"} == {("warning", "certificate")}, findings
        assert len(outcomes) == 10, findings
        assert "3 of 3 hosts lead here." in findings
        subjects = mails(server)
        assert [each.partition(": ")[0] for each in subjects] == ["you@example.com"] * 2, subjects
        assert any("Corner shop" in each for each in subjects)
        page = "import urllib.request as u; print(u.urlopen('https://shop.example.com/').read().decode())"
        assert "Corner shop" in machine.run(f'python3 -c "{page}"', seconds=60)
        see_the_command(machine, names)


def see_the_command(machine: Machine, names: str) -> None:
    """`storefront` as typed reads files that only root can read, by way of stdin, and its settings as they stand."""
    product = '{"name": "Mug", "sku": "M1", "price": "9.50"}'
    script = f"cd /root; echo '{product}' > mug.jsonl; storefront importproducts --shop $SHOP /dev/stdin < mug.jsonl"
    assert '"created":1' in machine.run(names + script, seconds=60)
    machine.run("echo 'STOREFRONT_EMAIL_FROM=\"$(touch /tmp/made) x@example.com\"' >> /etc/storefront.env", seconds=9)
    shown = machine.run("storefront shell --no-imports -c 'import os; print(os.getuid(), os.environ)'", seconds=60)
    assert "$(touch /tmp/made) x@example.com" in shown
    assert not shown.startswith("0 ")
    assert not (machine.root / "tmp/made").exists()


def until(condition: str) -> str:
    """A line of shell that waits for the condition, a minute at most."""
    return f"for _ in $(seq 300); do {condition} && break; sleep 0.2; done\n"
