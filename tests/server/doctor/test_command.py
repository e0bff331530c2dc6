"""`storefront doctor` as a program: its lines, its JSON, its exit codes."""

import json

import pytest

from storefront.server.doctor.findings import Finding, State
from storefront.server.management.commands.doctor import line_of
from tests.server.programs import running, storefront

pytestmark = [pytest.mark.slow, pytest.mark.uses_database]


def test_what_is_missing_is_printed_and_fails(deployment, tmp_path):
    with running("worker", log=tmp_path / "log", **deployment):
        done = storefront("doctor", "--json", **deployment)
    findings = [Finding(**json.loads(line)) for line in done.stdout.splitlines()]
    outcomes = {(finding.check, finding.state) for finding in findings}
    assert {("database", "ok"), ("versions", "ok"), ("worker", "ok"), ("clock", "ok")} <= outcomes
    assert {("hosts", "missing"), ("mail", "missing"), ("backup", "missing")} <= outcomes
    missing = sum(state == State.MISSING for _, state, *_ in findings)
    assert (done.returncode, done.stderr) == (1, f"storefront: {missing} things are missing.\n")


def test_without_a_database_it_reports_all_the_same(tmp_path):
    settings = {"STOREFRONT_DATA_DIR": str(tmp_path), "DATABASE_URL": "postgres://me:secret-word@127.0.0.1:9/x"}
    done = storefront("doctor", **settings)
    assert done.returncode == 1
    assert "missing  database     The database cannot be used:" in done.stdout
    assert "warning  hosts        Not looked at" in done.stdout
    assert "missing  mail " in done.stdout
    assert "secret-word" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_an_address_that_is_none_is_refused(tmp_path):
    done = storefront("doctor", "--mail-to", "me", STOREFRONT_DATA_DIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (2, "storefront: --mail-to: Expected an address, not me.\n")


def test_a_line_names_check_and_advice():
    finding = Finding("mail", State.MISSING, "No mail is sent.", "Set EMAIL_URL.")
    assert line_of(finding) == "missing  mail         No mail is sent. Set EMAIL_URL."
    assert line_of(Finding("mail", State.OK, "Well.")) == "ok       mail         Well."
