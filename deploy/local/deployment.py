"""What runs in the deployment: for each pod a PostgreSQL server, a PgBouncer, two web servers and two workers; for both
pods Redis, nginx and podmap."""

import fcntl
import json
import os
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from signal import SIGINT
from typing import Any
from urllib.request import urlopen

import psycopg

from benchmarks.prepared import clean_environment
from benchmarks.processes import is_listening
from deploy.local import files
from deploy.local.programs import Failed, Program, as_user, last_lines, run, stop

ROOT = Path(__file__).parents[2]
STOREFRONT = Path(sys.executable).with_name("storefront")
PODS, SERVERS, WORKERS = 2, 2, 2
# nginx, its redirecting port, Redis; PostgreSQL, PgBouncer and the web servers of each pod.
PORTS = 3 + PODS * (2 + SERVERS)
PODMAP_SECONDS = 10.0
# Seconds for one program to begin to answer, and for a command, on a machine that is busy.
READY_SECONDS, COMMAND_SECONDS = 120.0, 300.0
# At most, for each shop that is made.
SHOP_SECONDS = 5.0
# Shops can be moved by logical replication (docs/pods.md).
POSTGRESQL_SETTINGS = {"wal_level": "logical", "unix_socket_directories": "", "listen_addresses": "127.0.0.1"}

Command = Sequence[str | Path]


@dataclass(frozen=True)
class Pod:
    """`web` are the ports of its web servers."""

    number: int
    postgresql: int
    pgbouncer: int
    web: tuple[int, ...]

    @property
    def admin_host(self) -> str:
        return f"admin{self.number or ''}.localhost"


class Deployment:
    """The files are kept in `folder`, so that the next start has the same shops. `given` are further variables of the
    service; `port` is that of nginx, which the others follow, or 0 for any free ones. `report` is called with what
    happens."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int = 0,
        given: dict[str, str] | None = None,
        report: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.folder, self.given, self.report = folder, given or {}, report
        self.paths = files.find_programs()
        ports = iter(free_ports(PORTS) if port == 0 else range(port, port + PORTS))
        self.port, self.plain_port, self.redis_port = next(ports), next(ports), next(ports)
        self.pods = [
            Pod(number, next(ports), next(ports), tuple(next(ports) for _ in range(SERVERS))) for number in range(PODS)
        ]
        # PostgreSQL and PgBouncer refuse to run as root.
        self.user = "postgres" if os.geteuid() == 0 else ""
        self.map, self.listed, self.shops_file = (folder / name for name in ("pods.map", "pods.toml", "shops.jsonl"))
        self.site = folder / "nginx/nginx.conf"
        # In the order in which they start. Those of one row start and end together.
        self.rows: list[list[Program]] = []

    @property
    def programs(self) -> list[Program]:
        return [program for row in self.rows for program in row]

    def program(self, name: str) -> Program:
        return next(program for program in self.programs if program.name == name)

    def url(self, host: str) -> str:
        return f"http://{host}:{self.port}"

    def environment(self, pod: Pod, *, role: str = "storefront") -> dict[str, str]:
        """Variables of the pod's processes, as docs/pods.md and docs/deployment.md have them."""
        return {
            **clean_environment(),
            "STOREFRONT_DATA_DIR": str(self.folder / "data"),
            "STOREFRONT_POD": str(pod.number),
            "DATABASE_URL": self.database(pod.pgbouncer, role),
            "DATABASE_DIRECT_URL": self.database(pod.postgresql, role),
            "STOREFRONT_PGBOUNCER": "1",
            "REDIS_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "STOREFRONT_ADMIN_HOST": f"{pod.admin_host}:{self.port}",
            "STOREFRONT_SECURE_HOST": f"secure.localhost:{self.port}",
            "EMAIL_URL": f"filemail:///{self.folder}/mail",
            # For apps that are tried on this machine; and no second factor for its one user.
            "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
            "STOREFRONT_STAFF_SECOND_FACTOR": "none",
            **self.given,
        }

    def database(self, port: int, role: str = "storefront", name: str = "storefront") -> str:
        return f"postgres://{role}:{self.password}@127.0.0.1:{port}/{name}"

    def storefront(self, pod: Pod, *arguments: str, seconds: float = COMMAND_SECONDS) -> str:
        """The output of a command in this pod. Raises Failed with what it wrote if it fails."""
        return run([STOREFRONT, *arguments], self.environment(pod), seconds=seconds, cwd=ROOT)

    def start(self, *, shops: int = 0) -> None:
        """Start everything, the first time with new databases, and return when all of it answers. Shops are made until
        there are so many, in turn in the pods."""
        self._refuse_ports_in_use()
        # For the user of PostgreSQL, who can then reach its folders in it and list none.
        self.folder.chmod(0o711)
        for name in ("log", "nginx", "mail"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.password = self._password()
        self._start_row([self._postgresql(pod) for pod in self.pods])
        for pod in self.pods:
            self._wait(partial(self._make_database, pod), f"PostgreSQL of pod {pod.number}")
        self._start_row([*map(self._pgbouncer, self.pods), self._redis()])
        for pod in self.pods:
            self.report(f"Preparing the database of pod {pod.number}.")
            self.storefront(pod, "migrate", "--verbosity", "0")
        self._make_shops(shops)
        self._start_row([program for pod in self.pods for program in self._service(pod)])
        for port in (port for pod in self.pods for port in pod.web):
            self._wait(partial(is_ready, port), f"the web server on port {port}")
        self._write_map()
        self._start_row([self._nginx(), self._podmap()])
        self._wait(lambda: is_listening(self.port), "nginx")

    def tend(self) -> None:
        """Start again what has ended. To be called a few times a second, by the thread that called `start`."""
        for program in self.programs:
            if program.tend(time.monotonic()) and program.name != "podmap":
                self.report(f"{program.name} had ended, and was started again.")

    def stop(self) -> None:
        """End everything, the last first. Returns when nothing of it runs."""
        for row in reversed(self.rows):
            stop(row)

    def shops(self) -> list[dict[str, Any]]:
        """The shops that were made here, as deploy/local/shops.py prints them."""
        if not self.shops_file.exists():
            return []
        return [json.loads(line) for line in self.shops_file.read_text().splitlines()]

    def _make_shops(self, number: int) -> None:
        made = len(self.shops())
        for pod, first in ((pod, made + pod.number + 1) for pod in self.pods if made + pod.number < number):
            self.report(f"Making shops in pod {pod.number}.")
            given = ["--first", str(first), "--last", str(number), "--step", str(PODS), "--port", str(self.port)]
            command: Command = [sys.executable, "-m", "deploy.local.shops", *given]
            printed = run(command, self.environment(pod), seconds=SHOP_SECONDS * number, cwd=ROOT)
            with open(os.open(self.shops_file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a") as file:
                file.write(printed)

    def _start_row(self, row: list[Program]) -> None:
        self.rows.append(row)
        for program in row:
            program.start()

    def _wait(self, is_true: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not is_true():
            if time.monotonic() > deadline:
                logs = [
                    f"{each.name}:\n{last_lines(each.log.read_text())}" for each in self.programs if each.has_ended()
                ]
                raise Failed("\n".join([f"{what} does not answer within {READY_SECONDS:.0f} s.", *logs]))
            self.tend()
            time.sleep(0.1)

    def _refuse_ports_in_use(self) -> None:
        ports = [self.port, self.plain_port, self.redis_port]
        ports += [port for pod in self.pods for port in (pod.postgresql, pod.pgbouncer, *pod.web)]
        if used := [port for port in ports if is_listening(port)]:
            raise Failed(f"Another program has port {', '.join(map(str, used))}. --port takes others.")

    def _password(self) -> str:
        """The password of all roles, made at the first start."""
        file = self.folder / "password"
        with suppress(FileExistsError), open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(24))
        return file.read_text()

    def _postgresql(self, pod: Pod) -> Program:
        folder = self.folder / f"postgresql-{pod.number}"
        if not (folder / "PG_VERSION").exists():
            self.report(f"Making the PostgreSQL server of pod {pod.number}.")
            self._init_cluster(folder)
        settings = POSTGRESQL_SETTINGS | {"port": str(pod.postgresql)}
        arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command: Command = [self.paths["postgres"], "-D", folder, *arguments]
        # A fast shutdown, which does not wait for clients.
        return self._program(f"postgresql-{pod.number}", command, clean_environment(), user=self.user, end=SIGINT)

    def _init_cluster(self, folder: Path) -> None:
        """Make it beside its place, so that one that was interrupted is not taken for a whole one."""
        draft = folder.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        password = draft.with_suffix(".password")
        password.write_text(self.password)
        for path in (draft, password):
            if self.user:
                shutil.chown(path, self.user, self.user)
        command: Command = [
            "setpriv",
            *as_user(self.user),
            "--",
            self.paths["initdb"],
            "--auth=scram-sha-256",
            "--no-sync",
        ]
        try:
            options: Command = ["--username=storefront", f"--pwfile={password}", "--encoding=UTF8", draft]
            run([*command, *options], clean_environment(), seconds=COMMAND_SECONDS, cwd=self.folder)
        finally:
            password.unlink()
        draft.rename(folder)

    def _make_database(self, pod: Pod) -> bool:
        """Make the database and the roles of deploy/postgres/roles.sh, as far as they are missing. Returns False while
        the server does not answer."""
        url = self.database(pod.postgresql, name="postgres")
        try:
            with psycopg.connect(url, autocommit=True, connect_timeout=2) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'storefront'").fetchone():
                    connection.execute("CREATE DATABASE storefront")
        except psycopg.OperationalError:
            return False
        server = {"PGHOST": "127.0.0.1", "PGPORT": str(pod.postgresql), "PGPASSWORD": self.password}
        given = {"POSTGRES_USER": "storefront", "POSTGRES_DB": "storefront", "POSTGRES_PASSWORD": self.password}
        environment = clean_environment() | server | given | {"PATH": files.PATH}
        run(["bash", files.DEPLOY / "postgres/roles.sh"], environment, seconds=COMMAND_SECONDS, cwd=self.folder)
        return True

    def _pgbouncer(self, pod: Pod) -> Program:
        folder = self.folder / f"pgbouncer-{pod.number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        if self.user:
            shutil.chown(folder, self.user)
        given = {
            "POSTGRES_PASSWORD": self.password,
            "DATABASE_HOST": "127.0.0.1",
            "DATABASE_PORT": str(pod.postgresql),
            "LISTEN_ADDRESS": "127.0.0.1",
            "LISTEN_PORT": str(pod.pgbouncer),
            "PGBOUNCER": str(self.paths["pgbouncer"]),
            "TMPDIR": str(folder),
        }
        command: Command = [files.DEPLOY / "pgbouncer/start"]
        return self._program(f"pgbouncer-{pod.number}", command, clean_environment() | given, user=self.user)

    def _redis(self) -> Program:
        options: Command = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        return self._program("redis", [self.paths["redis-server"], *options], clean_environment())

    def _service(self, pod: Pod) -> Iterator[Program]:
        web = self.environment(pod, role="storefront_web")
        for number, port in enumerate(pod.web, start=1):
            command: Command = [STOREFRONT, "serve", "--no-worker", "--port", str(port), "--workers", "1"]
            yield self._program(f"web-{pod.number}-{number}", command, web)
        for number in range(1, WORKERS + 1):
            yield self._program(f"worker-{pod.number}-{number}", [STOREFRONT, "worker"], self.environment(pod))

    def _write_map(self) -> None:
        """The file that lists the pods, and the first map; podmap keeps that new."""
        text = "".join(
            f"[[pod]]\nnumber = {pod.number}\nupstream = {json.dumps([f'127.0.0.1:{port}' for port in pod.web])}\n"
            f'database = "{self.database(pod.postgresql)}"\nadmin_host = "{pod.admin_host}"\n'
            for pod in self.pods
        )
        self.listed.touch(mode=0o600)
        self.listed.write_text(text)
        given: dict[str, Any] = {
            "port": self.port,
            "plain_port": self.plain_port,
            "access_log": self.folder / "log/access.log",
        }
        self.site.write_text(files.nginx_site(self.site.parent, podmap=self.map, **given))
        self.storefront(self.pods[0], *self.podmap_arguments)

    @property
    def podmap_arguments(self) -> list[str]:
        return ["podmap", "--pods", str(self.listed), "--format", "nginx", "--output", str(self.map)]

    def _podmap(self) -> Program:
        nginx = f"{self.paths['nginx']} -c {self.site}"
        command: Command = [
            STOREFRONT,
            *self.podmap_arguments,
            "--test",
            f"{nginx} -t",
            "--reload",
            f"{nginx} -s reload",
        ]
        return self._program("podmap", command, self.environment(self.pods[0]), again_seconds=PODMAP_SECONDS)

    def _nginx(self) -> Program:
        return self._program("nginx", [self.paths["nginx"], "-c", self.site], clean_environment())

    def _program(self, name: str, command: Command, environment: dict[str, str], **given: Any) -> Program:
        return Program(name, command, self.folder / f"log/{name}.log", environment, **given)


def free_ports(number: int) -> list[int]:
    """So many different ports that nobody listens on."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def is_ready(port: int) -> bool:
    with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
        return bool(answer.status == 200)
    return False


@contextmanager
def running(folder: Path, *, shops: int = 0, **given: Any) -> Iterator[Deployment]:
    """A deployment that answers, until the end of the block. Raises Failed if another one uses the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"A deployment is running in {folder}.") from None
        deployment = Deployment(folder, **given)
        try:
            deployment.start(shops=shops)
            yield deployment
        finally:
            deployment.stop()
