"""Static files are collected once, however many web servers start in one folder."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from storefront.server import readiness
from storefront.server.command import Failed
from tests.server.programs import STOREFRONT, clean_environment

COLLECT = "from storefront.server.readiness import collect_static_files; print('collected', collect_static_files())"


@pytest.mark.slow
@pytest.mark.any_database
def test_servers_that_start_at_once_collect_once(tmp_path):
    command = [STOREFRONT, "shell", "--no-imports", "-c", COLLECT]
    environment = clean_environment(STOREFRONT_DATA_DIR=str(tmp_path / "data"))
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, env=environment, **given) for _ in range(3)]
    try:
        ended = [process.communicate(timeout=240) for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0, 0, 0], [errors for _, errors in ended]
    assert sorted(output.splitlines()[-1] for output, _ in ended) == [*["collected False"] * 2, "collected True"]


def test_a_folder_that_stays_locked_is_an_error_that_names_it(tmp_path, settings, monkeypatch):
    settings.STATIC_ROOT = str(tmp_path / "static")
    monkeypatch.setattr(readiness, "MAX_COLLECTING_SECONDS", 0.0)
    Path(settings.STATIC_ROOT).mkdir()
    descriptor = os.open(settings.STATIC_ROOT, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(Failed, match="static locked"):
            readiness.collect_static_files()
    finally:
        os.close(descriptor)
