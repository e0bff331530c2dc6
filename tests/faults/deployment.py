"""A shop with all its programs, whose parts can be broken one by one."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from tests.mailbox import open_mailbox
from tests.receiver import Receiver, receiving
from tests.server.clusters import Cluster, children, programs
from tests.server.programs import STOREFRONT, clean_environment, free_port, is_listening, storefront, wait_until
from tests.server.relays import Relay, relay

ROOT = Path(__file__).parents[2]
TMPFS_MEGABYTES = 512
NO_LIMITS = ("BASKETS", "ARRIVALS", "ORDERS", "ORDERS_EACH", "UNPAID", "UNPAID_EACH", "MAILS_EACH")
SET_UP = """
import json
from storefront.kit import clock
from storefront.webhooks import actions
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.shops.factories import make_shop, make_token
shop = make_shop("localhost", base_url="http://localhost:PORT")
mug = make_product(shop, stock_qty=10**6)
app = install(shop, "read_orders")
given = {"topic": "order.placed", "address": "RECEIVER", "now": clock.now()}
actions.register_webhook(shop=shop, installation_id=app.installation.pk, **given)
print(json.dumps([make_token(shop), mug.pk]))
"""
LOOK = """
import json
from django.db.models import Sum
from storefront.orders.models import Order
from storefront.webhooks.models import Delivery, Event
print(json.dumps({
    "orders": list(map(list, Order.objects.order_by("id").values_list("email", "public_id", Sum("lines__qty")))),
    "events": list(Event.objects.filter(topic="order.placed").values_list("public_id", flat=True)),
    "waiting": Event.objects.filter(sequence=None).count() + Delivery.objects.filter(status="pending").count(),
    "dead": Delivery.objects.filter(status="dead").count(),
}, default=str))
"""


class Program:
    """A command of ours that runs until it is stopped or killed."""

    def __init__(self, log: Path, environment: dict[str, str], *arguments: str) -> None:
        self.log, self.environment, self.arguments = log, environment, arguments
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [STOREFRONT, *self.arguments],
                env=clean_environment(**self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def send(self, number: int) -> None:
        assert self.process
        self.process.send_signal(number)

    def wait(self, seconds: float = 30) -> None:
        assert self.process
        self.process.wait(seconds)

    def kill(self) -> None:
        """With all that it has started."""
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Deployment:
    """`relay` is between the programs and PostgreSQL, `mail` between them and a mail server."""

    directory: Path
    cluster: Cluster | None
    relay: Relay | None
    mail: Relay
    redis: "Redis | None"
    receiver: Receiver
    token: str
    product: int
    web: Program
    workers: list[Program]
    # Whether its files are in a file system of their own, which can be filled.
    has_own_disk: bool
    # Where the difference of the programs' clock is written; None without libfaketime.
    clock: Path | None
    clock_environment: dict[str, str]

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.environment: dict[str, str] = {}

    def shell(self, script: str) -> dict | list:
        done = storefront("shell", "--no-imports", "-c", script, **self.environment)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def web_processes(self) -> list[int]:
        """The processes that answer: children of Granian's parent, or of the supervisor."""
        assert self.web.process
        parents = [pid for pid in descendants(self.web.process.pid) if name_of(pid).startswith("storefront web")]
        return [pid for pid in parents if not children(pid)]

    def is_ready(self) -> bool:
        with suppress(OSError), urlopen(f"{self.url}/readyz", timeout=5) as answer:
            return answer.status == 200
        return False

    def start_web(self, seconds: float = 40) -> None:
        """Start it, again and again, as systemd does, until it answers."""
        deadline = time.monotonic() + seconds
        while True:
            self.web.start()
            assert self.web.process
            while self.web.process.poll() is None and time.monotonic() < deadline:
                if self.is_ready():
                    return
                time.sleep(0.1)
            if time.monotonic() > deadline:
                raise AssertionError("the web server does not start")
            time.sleep(0.5)


class Redis:
    def __init__(self, directory: Path) -> None:
        self.directory, self.port = directory, free_port()
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--save", "", "--dir", str(self.directory)]
        self.process = subprocess.Popen([*command, "--bind", "127.0.0.1"], stdout=subprocess.DEVNULL)
        wait_until(lambda: is_listening(self.port), what="Redis")

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


def descendants(pid: int) -> list[int]:
    found = children(pid)
    return [*found, *(each for child in found for each in descendants(child))]


def name_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    return ""


@contextmanager
def deployed(database: str) -> Iterator[Deployment]:
    """A running deployment on `sqlite` or `postgresql`, in a directory that is removed at the end."""
    with ExitStack() as stack:
        shop = Deployment()
        shop.directory = Path(tempfile.mkdtemp(prefix="storefront-faults-"))
        stack.callback(shutil.rmtree, shop.directory, ignore_errors=True)
        shop.directory.chmod(0o755)
        shop.has_own_disk = mount(shop.directory, stack)
        shop.receiver = stack.enter_context(receiving())
        shop.mail = stack.enter_context(relay("127.0.0.1", stack.enter_context(open_mailbox()).port))
        data = shop.directory / "data"
        shop.environment = {
            "STOREFRONT_DATA_DIR": str(data),
            "EMAIL_URL": f"smtp://127.0.0.1:{shop.mail.port}",
            "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
            "PYTHONPATH": str(ROOT),
            **{f"STOREFRONT_LIMIT_{name}": "0" for name in NO_LIMITS},
        }
        add_database(shop, database, stack)
        add_redis(shop, stack)
        done = storefront("migrate", **shop.environment)
        assert done.returncode == 0, done.stderr
        set_up = SET_UP.replace("RECEIVER", shop.receiver.url).replace("PORT", str(shop.port))
        shop.token, shop.product = shop.shell(set_up)
        add_clock(shop)
        serve = ("serve", "--port", str(shop.port), "--no-worker", "--workers", "2", "--threads", "4")
        shop.web = Program(shop.directory / "web.log", shop.environment, *serve)
        shop.workers = [Program(shop.directory / f"worker-{n}.log", shop.environment, "worker") for n in (1, 2)]
        for program in (shop.web, *shop.workers):
            stack.callback(program.kill)
        stack.callback(kill_orphans, shop)
        shop.start_web()
        for worker in shop.workers:
            worker.start()
        yield shop


def kill_orphans(shop: Deployment) -> None:
    """Kill our processes whose parent was killed: those that write their log into this deployment's directory."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (path / "fd/2").readlink().is_relative_to(shop.directory):
                os.kill(int(path.name), signal.SIGKILL)


def mount(directory: Path, stack: ExitStack) -> bool:
    """Give the directory a small file system of its own, in memory, where that is permitted."""
    options = f"size={TMPFS_MEGABYTES}m,mode=0755"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False, timeout=10).returncode:
        return False
    stack.callback(subprocess.run, ["umount", "--lazy", str(directory)], check=False, timeout=10)
    return True


def add_database(shop: Deployment, database: str, stack: ExitStack) -> None:
    shop.cluster = shop.relay = None
    if database == "sqlite":
        return
    found = programs()
    assert found, "PostgreSQL's programs are not installed"
    folder = shop.directory / "cluster"
    folder.mkdir()
    shop.cluster = Cluster(folder, found)
    if os.geteuid() == 0:
        shutil.chown(folder, shop.cluster.user)
    stack.callback(shop.cluster.kill)
    shop.cluster.make_empty()
    shop.relay = stack.enter_context(relay("127.0.0.1", shop.cluster.port))
    shop.environment["DATABASE_URL"] = shop.cluster.url.replace(str(shop.cluster.port), str(shop.relay.port))


def add_redis(shop: Deployment, stack: ExitStack) -> None:
    shop.redis = None
    if shutil.which("redis-server"):
        shop.redis = Redis(shop.directory)
        stack.callback(shop.redis.kill)
        shop.redis.start()
        shop.environment["REDIS_URL"] = f"redis://127.0.0.1:{shop.redis.port}/0"


def add_clock(shop: Deployment) -> None:
    """Find libfaketime, with which the programs can be given another clock."""
    shop.clock, shop.clock_environment = None, {}
    with suppress(ImportError):
        import libfaketime

        (library,) = Path(libfaketime.__file__).parent.glob("**/libfaketime.so.1")
        shop.clock = shop.directory / "clock"
        shop.clock.write_text("+0")
        shop.clock_environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(shop.clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
