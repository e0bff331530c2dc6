"""Loads a server with wrk, and parses wrk's output."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Broken

ROTATE = Path(__file__).with_name("rotate.lua")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Load:
    """The result of a run: durations in seconds; `failed` counts missing answers and errors."""

    requests: int
    per_second: float
    p50: float
    p99: float
    failed: int


def parse(text: str) -> Load:
    """Parse wrk's output with --latency. Raises Broken for anything else."""
    counted = re.search(r"^\s*(\d+) requests in ", text, re.M)
    rate = re.search(r"^Requests/sec:\s+([\d.]+)", text, re.M)
    if not counted or not rate:
        raise Broken(f"wrk said: {' '.join(text.split())[:200]}")
    refused = re.search(r"^\s*Non-2xx or 3xx responses: (\d+)", text, re.M)
    errors = re.search(r"^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text, re.M)
    return Load(
        requests=int(counted[1]),
        per_second=float(rate[1]),
        p50=percentile(text, 50),
        p99=percentile(text, 99),
        failed=sum(map(int, [*(refused.groups() if refused else ()), *(errors.groups() if errors else ())])),
    )


def percentile(text: str, which: int) -> float:
    found = re.search(rf"^\s*{which}%\s+([\d.]+)(us|ms|s|m|h)\s*$", text, re.M)
    if not found:
        raise Broken("wrk did not say how long answers took")
    return float(found[1]) * UNITS[found[2]]


def run(
    url: str,
    *,
    core: int,
    seconds: int,
    connections: int,
    headers: dict[str, str],
    method: str = "GET",
    rotating: Path | None = None,
) -> Load:
    """Load this URL from one core. `rotating` is a file of paths (bodies for a POST), one per line, used in turn."""
    command = [
        "taskset",
        "-c",
        str(core),
        "wrk",
        "--latency",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--timeout=30s",
    ]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    if rotating:
        command += ["-s", str(ROTATE)]
    command.append(url)
    if rotating:
        command += ["--", method, str(rotating)]
    return parse(output_of(command, seconds + 60))


def output_of(command: Sequence[str], seconds: float) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise Broken("wrk did not end in time") from None
    return done.stdout + done.stderr


def require() -> None:
    """Make sure that wrk and taskset are installed, installing wrk if possible. Exits with a message if not."""
    if not shutil.which("wrk") and os.path.exists("/etc/debian_version") and os.geteuid() == 0:
        print("Installing wrk with apt-get ...", file=sys.stderr, flush=True)
        for command in ("apt-get -qq update", "apt-get -qq -y install wrk"):
            subprocess.run(
                command.split(),
                env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=False,
            )
    missing = [name for name in ("wrk", "taskset") if not shutil.which(name)]
    if missing:
        sys.exit(f"bench: {' and '.join(missing)} not found; on Debian: apt-get install wrk util-linux")
