"""A PgBouncer for one test, which pools transactions of the tests' server."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.server.programs import free_port, is_listening, wait_until


def find_program() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


@contextmanager
def pooled(url: str, directory: Path, **given: str | int) -> Iterator[str]:
    """The URL at which PgBouncer has this database. Skips the test where PgBouncer is not installed."""
    program = find_program()
    if not program:
        pytest.skip("PgBouncer is not installed (on Debian: apt-get install pgbouncer)")
    server, port = urlsplit(url), free_port()
    login = f"user={unquote(server.username or '')}" + (
        f" password={unquote(server.password or '')}" * bool(server.password)
    )
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": 6,
        # Each transaction on another connection, if there are several: the worst case for what outlasts one.
        "server_round_robin": 1,
        # As deploy/pgbouncer/pgbouncer.ini has it.
        "server_login_retry": 1,
        **given,
    }
    lines = "\n".join(f"{name} = {value}" for name, value in settings.items())
    file = directory / "pgbouncer.ini"
    file.write_text(f"[databases]\n* = host={server.hostname} port={server.port} {login}\n[pgbouncer]\n{lines}\n")
    command = [program, "--quiet", *(["--user=postgres"] if os.geteuid() == 0 else []), file]
    with (directory / "pgbouncer.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(lambda: is_listening(port), what="PgBouncer", process=process)
        yield f"postgres://{server.username}@127.0.0.1:{port}{server.path}"
    finally:
        process.kill()
        process.wait()
