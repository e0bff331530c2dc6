"""The checks of `storefront doctor` that look at this machine, its mail server and its database."""

import os
import socket
import socketserver
import threading
from collections import namedtuple
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError
from django_tasks_db.models import DBTaskResult
from packaging.requirements import Requirement

from storefront.server.doctor import backups, clocks, databases, disks, examining, mails, versions, workers
from storefront.server.doctor.examining import Check, examine_checks
from storefront.server.doctor.findings import Finding, State
from storefront.server.worker.lanes import TaskLane
from tests.mailbox import open_mailbox

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def smtp(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "127.0.0.1", "", ""
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.DEFAULT_FROM_EMAIL = "shop@example.com"
    with open_mailbox() as mailbox:
        settings.EMAIL_PORT = mailbox.port
        yield mailbox


def test_without_a_mail_server_mail_is_missing(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    (finding,) = mails.look(mail_to=None)
    assert (finding.state, finding.advice[:13]) == (State.MISSING, "Set EMAIL_URL")


def test_a_test_mail_is_sent_only_where_asked(smtp):
    (finding,) = mails.look(mail_to=None)
    assert finding == Finding("mail", State.OK, "The mail server answers. --mail-to ADDRESS sends a test mail.")
    assert smtp.messages == []
    (finding,) = mails.look(mail_to="me@example.com")
    assert finding.state == State.OK
    (message,) = smtp.messages
    assert (message["To"], message["From"]) == ("me@example.com", "Storefront <shop@example.com>")
    assert len(smtp.texts("me@example.com")) == 1


def test_a_sender_that_receivers_refuse_is_named(smtp, settings):
    settings.DEFAULT_FROM_EMAIL = "storefront@localhost"
    first, second = mails.look(mail_to=None)
    assert (first.state, second.state) == (State.MISSING, State.OK)
    assert "STOREFRONT_EMAIL_FROM" in first.advice


def test_printed_mails_are_not_mail(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert next(mails.look(mail_to=None)).state == State.WARNING


def test_a_wrong_password_is_named_and_not_shown(smtp, settings):
    class Refusing(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            for line in self.rfile:
                verb = line.split()[0].upper()
                answers = {b"EHLO": b"250-here\r\n250 AUTH PLAIN\r\n", b"AUTH": b"535 no such user as secret-name\r\n"}
                self.wfile.write(answers.get(verb, b"221 bye\r\n"))
                if verb == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        settings.EMAIL_PORT = server.server_address[1]
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "secret-name", "secret-word"
        (finding,) = mails.look(mail_to=None)
        server.shutdown()
        thread.join()
    assert finding.state == State.MISSING
    assert "refused with 535" in finding.text
    assert "secret" not in str(finding)


def test_a_mail_server_that_is_away_or_silent_is_given_up(smtp, settings, monkeypatch):
    monkeypatch.setattr(mails, "STEP_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EMAIL_PORT = silent.getsockname()[1]
        (finding,) = mails.look(mail_to=None)
        assert finding.state == State.MISSING
    (finding,) = mails.look(mail_to=None)
    assert finding.text.endswith("does not answer (Connection refused).")


def test_the_age_of_the_backup_counts(settings, tmp_path):
    settings.BACKUP_MARKER = ""
    assert [finding.state for finding in backups.look()] == [State.MISSING]
    marker = tmp_path / "backup.done"
    settings.BACKUP_MARKER = str(marker)
    (finding,) = backups.look()
    assert (finding.state, "No such file" in finding.text) == (State.MISSING, True)
    marker.touch()
    assert [finding.state for finding in backups.look()] == [State.OK]
    two_days_ago = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    os.utime(marker, (two_days_ago, two_days_ago))
    (finding,) = backups.look()
    assert (finding.state, finding.text) == (State.MISSING, "The last backup succeeded 48.0 hours ago.")


@pytest.mark.parametrize(
    ("free", "total", "state"),
    [
        (50 * disks.GIB, 100 * disks.GIB, State.OK),
        (5 * disks.GIB, 100 * disks.GIB, State.WARNING),
        # Little of a large disk is still enough.
        (60 * disks.GIB, 1000 * disks.GIB, State.OK),
        (disks.GIB // 5, 1 * disks.GIB, State.MISSING),
    ],
)
def test_a_disk_that_fills_is_named(monkeypatch, tmp_path, settings, free, total, state):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(disks.shutil, "disk_usage", lambda path: Usage(total, total - free, free))
    assert {finding.state for finding in disks.look()} == {state}


def test_a_folder_that_cannot_be_written_is_named(monkeypatch, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    # Root may write everywhere.
    monkeypatch.setattr(disks.os, "access", lambda path, mode: path != tmp_path)
    assert f"{tmp_path} cannot be written by this user." in [finding.text for finding in disks.look()]


@pytest.mark.parametrize(("off", "state"), [(0.5, State.OK), (5, State.WARNING), (90, State.MISSING)])
def test_clocks_that_differ_are_named(off, state):
    assert clocks.finding_of("The database's clock", off).state == state


@pytest.mark.django_db
def test_a_machine_that_is_set_up_is_well():
    assert {finding.state for finding in [*databases.look(), *versions.look()]} == {State.OK}
    assert list(clocks.look())[-1].state == State.OK


def test_packages_of_another_release_are_named():
    assert versions.problem_of(Requirement("django>=5")) == ""
    assert versions.problem_of(Requirement("django>=99")).endswith("needed is >=99")
    assert versions.problem_of(Requirement("no-such-package>=1")) == "no-such-package is not installed"
    assert versions.problem_of(Requirement("no-such-package>=1; extra == 's3'")) == ""


@pytest.mark.django_db(transaction=True)
def test_a_living_worker_is_seen_and_leaves_nothing():
    lane = TaskLane("tasks")
    lane.start()
    try:
        assert workers.is_answered(30)
    finally:
        lane.stop()
        lane.join()
    assert not DBTaskResult.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db
def test_without_a_worker_the_task_is_taken_back(monkeypatch):
    found = list(workers.look(seconds=0.3))
    assert [finding.state for finding in found] == [State.MISSING]
    assert not DBTaskResult.objects.exists()


@pytest.mark.slow
def test_a_check_that_hangs_or_breaks_is_a_finding_and_keeps_no_other():
    release = threading.Event()

    def hang():
        release.wait(30)
        return []

    def broken():
        raise ValueError("odd")

    def away():
        raise OperationalError("refused")

    fine = [Finding("fine", State.OK, "Well.")]
    checks = [Check("slow", hang), Check("broken", broken), Check("away", away), Check("fine", lambda: fine)]
    found = examine_checks(Check("database", list), checks, seconds=0.5)
    release.set()
    assert [(finding.check, finding.state, finding.text) for finding in found] == [
        ("slow", State.MISSING, "No answer within 0 s."),
        ("broken", State.MISSING, "The check broke (ValueError: odd)."),
        ("away", State.MISSING, "The database cannot be used: refused"),
        ("fine", State.OK, "Well."),
    ]


def test_without_a_database_the_other_checks_are_made():
    def away():
        raise OperationalError("refused")

    checks = [Check("hosts", pytest.fail, needs_database=True), Check("mail", list)]
    found = examining.examine_checks(Check("database", away), checks, seconds=5)
    assert [(finding.check, finding.state) for finding in found] == [
        ("database", State.MISSING),
        ("hosts", State.WARNING),
    ]
