"""A PostgreSQL server for one test, which the test can kill."""

import getpass
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.server.programs import free_port, wait_until

# To copy the tests' database into it, its programs must have the server's version.
PROGRAMS = ("initdb", "postgres", "pg_dump", "psql")


def programs() -> Path | None:
    """Where PostgreSQL's programs are, newest first; None where they are not installed beside a server elsewhere."""
    named = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -int(folder.parent.name))
    found = [Path(named).parent] if named else []
    return next((folder for folder in (*found, *folders) if all((folder / name).exists() for name in PROGRAMS)), None)


class Cluster:
    """`url` names its one database, a copy of another. `settings` are those of the server that differ."""

    def __init__(self, directory: Path, programs: Path, **settings: str) -> None:
        self.settings = settings
        self.directory, self.programs, self.port = directory, programs, free_port()
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else getpass.getuser()
        self.url = f"postgres://{self.user}@127.0.0.1:{self.port}/postgres"
        self.process: subprocess.Popen | None = None

    def make_empty(self) -> None:
        data = self.directory / "data"
        command = [self.programs / "initdb", "--auth=trust", "--no-sync", f"--username={self.user}", data]
        subprocess.run(command, **self._as_user, stdout=subprocess.DEVNULL, check=True, timeout=60)
        self.start()

    def make(self, copied_from: str) -> None:
        self.make_empty()
        dumped = subprocess.run(
            [self.programs / "pg_dump", "--no-owner", copied_from], stdout=subprocess.PIPE, check=True, timeout=60
        )
        fill = [self.programs / "psql", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null", self.url]
        subprocess.run(fill, input=dumped.stdout, check=True, timeout=60)

    def start(self) -> None:
        # Without fsync, a killed process loses nothing that it has written; only a crash of the machine would.
        given = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "fsync": "off"}
        settings = [part for name, value in (given | self.settings).items() for part in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.directory / "data", *settings],
                **self._as_user,
                stdout=log,
                stderr=log,
            )
        wait_until(self.answers, what="PostgreSQL", process=self.process, seconds=60)

    def make_replica_of(self, primary: "Cluster") -> None:
        """Start as a streaming replica of this server."""
        source = f"host=127.0.0.1 port={primary.port} user={primary.user}"
        command = [self.programs / "pg_basebackup", "--no-sync", "--checkpoint=fast", "--write-recovery-conf"]
        command += ["--pgdata", self.directory / "data", "--dbname", source]
        subprocess.run(command, **self._as_user, check=True, timeout=60)
        self.start()

    def execute(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def send(self, number: int) -> None:
        """Send a signal to all its processes, such as SIGSTOP, after which they only hang."""
        assert self.process
        for pid in [self.process.pid, *children(self.process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """Kill all its processes with SIGKILL, without a clean shutdown."""
        if self.process is None:
            return
        pids = [self.process.pid, *children(self.process.pid)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        # The next server refuses to start while a process still has the shared memory.
        deadline = time.monotonic() + 10
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            assert time.monotonic() < deadline, "a process of PostgreSQL does not die"
            time.sleep(0.01)

    def answers(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=2):
            return True
        return False

    @property
    def _as_user(self) -> dict:
        # In a folder that the other user can enter.
        other = {"user": self.user, "group": self.user, "extra_groups": []} if os.geteuid() == 0 else {}
        return other | {"cwd": self.directory}


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


@contextmanager
def cluster(programs: Path, copied_from: str, **settings: str) -> Iterator[Cluster]:
    """A server with a copy of this database, an empty one without; with these settings besides those of all."""
    # Other users cannot enter pytest's folders.
    directory = Path(tempfile.mkdtemp(prefix="storefront-cluster-"))
    found = Cluster(directory, programs, **settings)
    try:
        if os.geteuid() == 0:
            shutil.chown(directory, found.user)
        if copied_from:
            found.make(copied_from)
        else:
            found.make_empty()
        yield found
    finally:
        found.kill()
        shutil.rmtree(directory, ignore_errors=True)
