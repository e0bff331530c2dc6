"""Ends one program after the other, without warning. The deployment starts them again, as systemd would."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import family
from deploy.local.deployment import Deployment


@dataclass
class Kill:
    """`at` is a moment of time.monotonic()."""

    what: str
    at: float = field(default_factory=time.monotonic)


def web_server(deployment: Deployment, pod: int) -> str:
    deployment.program(f"web-{pod}-1").kill()
    return f"A web server of pod {pod}, all its processes"


def worker(deployment: Deployment, pod: int) -> str:
    deployment.program(f"worker-{pod}-1").kill()
    return f"A worker of pod {pod}"


def pgbouncer(deployment: Deployment, pod: int) -> str:
    deployment.program(f"pgbouncer-{pod}").kill()
    return f"PgBouncer of pod {pod}"


def postgresql(deployment: Deployment, pod: int) -> str:
    """An immediate shutdown: sessions end at once, without a checkpoint, and the next start recovers."""
    os.kill(deployment.program(f"postgresql-{pod}").pid, signal.SIGQUIT)
    return f"PostgreSQL of pod {pod}, by an immediate shutdown"


def redis(deployment: Deployment, _pod: int) -> str:
    deployment.program("redis").kill()
    return "Redis"


def nginx_worker(deployment: Deployment, _pod: int) -> str:
    """One of the two processes that answer; nginx starts another."""
    workers = [pid for pid in family(deployment.program("nginx").pid) if b"worker process" in title(pid)]
    os.kill(workers[0], signal.SIGKILL)
    return "A worker process of nginx"


def title(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


KILLS: list[Callable[[Deployment, int], str]] = [web_server, postgresql, worker, pgbouncer, nginx_worker, redis]


def kill(deployment: Deployment, number: int) -> Kill:
    """The kill with this number: each kind in turn, in one pod after the other."""
    began = time.monotonic()
    pod = deployment.pods[number % len(deployment.pods)].number
    return Kill(KILLS[number % len(KILLS)](deployment, pod), began)
