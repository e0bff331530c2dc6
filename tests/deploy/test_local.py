"""`make local` runs two pods on this machine, and leaves nothing running, however it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from deploy.local import files
from deploy.local.programs import Failed
from tests.server.programs import clean_environment, wait_until

pytestmark = [pytest.mark.proof, pytest.mark.any_database]
ROOT = Path(__file__).parents[2]
# Seconds for a start with new databases, and for an end, on a machine that does much else.
START_SECONDS, END_SECONDS = 300, 60


@pytest.fixture
def folder(tmp_path_factory):
    # PostgreSQL's user cannot enter pytest's folders.
    try:
        files.find_programs()
    except Failed as missing:
        pytest.skip(str(missing))
    made = Path("/tmp") / f"storefront-local-{os.getpid()}-{time.monotonic_ns()}"
    yield made
    for pid in processes_in(made):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    subprocess.run(["rm", "-rf", made], check=True, timeout=60)


def processes_in(folder: Path) -> list[int]:
    """Processes that run in this folder or below it."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (path / "cwd").readlink().is_relative_to(folder):
                found.append(int(path.name))
    return found


def start(folder: Path) -> tuple[subprocess.Popen, int]:
    """The command, when all answers, and the port of its nginx."""
    log = folder.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.local", "--folder", str(folder), "--port", "0", "--with-shops", "2"],
            env=clean_environment(),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stderr=output,
        )
    wait_until(lambda: "Ctrl-C ends" in log.read_text(), what="start", process=process, seconds=START_SECONDS)
    port = int(log.read_text().partition("nginx on port ")[2].partition(".")[0])
    log.unlink()
    return process, port


def ask(port: int, host: str, path: str, **headers: str) -> str:
    url = f"http://127.0.0.1:{port}{path}"
    answer = requests.get(url, headers={"Host": f"{host}:{port}"} | headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.timeout(900)
def test_two_pods_answer_and_nothing_is_left(folder):
    process, port = start(folder)
    shops = [json.loads(line) for line in (folder / "shops.jsonl").read_text().splitlines()]
    assert [shop["id"] >> 40 for shop in shops] == [0, 1]
    for shop in shops:
        name = shop["products"][0][2]
        assert name in ask(port, shop["domain"], "/products/mug")
        call = ask(port, "nobody.test", "/api/v1/products/mug", Authorization=f"Bearer {shop['token']}")
        assert json.loads(call)["data"]["name"] == name
    ask(port, "admin1.localhost", "/admin/login/")
    running = processes_in(folder)
    assert len(running) > 20
    # A program that is killed is started again.
    killed = next(pid for pid in running if Path(f"/proc/{pid}/comm").read_text().startswith("redis"))
    os.kill(killed, signal.SIGKILL)
    wait_until(
        lambda: any(Path(f"/proc/{pid}/comm").read_text().startswith("redis") for pid in processes_in(folder)),
        what="another Redis",
    )
    process.send_signal(signal.SIGINT)
    assert process.wait(END_SECONDS) == 0
    assert processes_in(folder) == []

    process, port = start(folder)
    second = subprocess.run(
        [sys.executable, "-m", "deploy.local", "--folder", str(folder), "--port", "0"],
        env=clean_environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (second.returncode, "is running in" in second.stderr) == (1, True)
    for shop in shops:
        ask(port, shop["domain"], "/api/v1/products/mug", Authorization=f"Bearer {shop['token']}")
    process.kill()
    process.wait()
    wait_until(lambda: not processes_in(folder), what="the end of all programs", seconds=END_SECONDS)


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(files, "PATH", "/nowhere")
    with pytest.raises(Failed, match=r"apt-get install .*nginx pgbouncer"):
        files.find_programs()
