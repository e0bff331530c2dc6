"""Databases to measure with: created once by the service's own commands, and kept for the next run.

A shop is written as a product file and imported by `storefront importproducts`, whose speed and memory are measured at
the same time; up to a hundred thousand products, so are an update that changes nothing and an export. A kept database
is created again when the generator, the schema or the file format changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

from benchmarks import postgres, shop
from benchmarks.processes import Broken, memory

FOLDER = Path("var/bench").absolute()
STOREFRONT = str(Path(sys.executable).with_name("storefront"))
DOMAIN = "bench.example.com"
SCOPES = "read_products,read_cart,write_cart"
OURS = ("STOREFRONT_", "DATABASE_URL", "SECRET_KEY", "EMAIL_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
# The files that determine a filled database: the generator, the schema with its triggers, the file format.
MAKERS = (
    *("benchmarks/shop.py", "benchmarks/words.py", "storefront/*/migrations/*.py"),
    *(
        "storefront/catalogue/trigger*/*.sql",
        "storefront/catalogue/triggers.py",
        "storefront/product_files/native/*.py",
    ),
    "storefront/catalogue/listable.py",
)
ROOT = Path(__file__).parent.parent
# Seconds between two samples of an import's memory.
PULSE = 0.2


# Largest shop that is also updated and exported.
MAX_UPDATED_PRODUCTS = 100_000


@dataclass(frozen=True)
class Run:
    """A command's number of products, its duration in seconds, its memory in MiB in the first quarter and at most, and
    its time."""

    products: int
    seconds: float
    resident: float
    own_early: float
    own_peak: float
    at: str


@dataclass(frozen=True)
class Prepared:
    """A migrated database with a shop of this size."""

    database: str
    size: int
    environment: dict[str, str]
    token: str
    # By what the command did: "import", and perhaps "update" and "export".
    runs: dict[str, Run]


def prepare(database: str, size: int, server: str | None, *, anew: bool = False) -> Prepared:
    """The kept database, or a new one. `server` is PostgreSQL's URL where `database` is on it."""
    folder = FOLDER / f"{database.lower()}-{size}"
    name = postgres.database_name(FOLDER, size)
    url = postgres.with_name(server, name) if server else f"sqlite:///{folder / 'shop.sqlite3'}"
    environment = clean_environment() | {
        # Shared by all databases, so that static files are collected once.
        "STOREFRONT_DATA_DIR": str(FOLDER / "data"),
        "STOREFRONT_LOG_LEVEL": "warning",
        "DATABASE_URL": url,
    }
    state = folder / "state.json"
    if anew or not is_current(state):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if server:
            postgres.create(server, name)
        state.write_bytes(orjson.dumps(fill(size, environment) | {"fingerprint": fingerprint()}))
        if server:
            postgres.vacuum(url)
    saved = orjson.loads(state.read_bytes())
    runs = {name: Run(**run) for name, run in saved["runs"].items()}
    return Prepared(database, size, environment, saved["token"], runs)


def is_current(state: Path) -> bool:
    """Whether the database was created from the current files."""
    with suppress(OSError, orjson.JSONDecodeError):
        return bool(orjson.loads(state.read_bytes())["fingerprint"] == fingerprint())
    return False


def fingerprint() -> str:
    """Changes when a file changes that the kept databases were created from."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in MAKERS for path in ROOT.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def fill(size: int, environment: dict[str, str]) -> dict[str, object]:
    file = product_file(size)
    storefront("migrate", environment=environment)
    storefront(
        *("createshop", "--domain", DOMAIN, "--name", "Measured shop", "--base-url", f"https://{DOMAIN}"),
        environment=environment,
    )
    token = storefront("createtoken", "--shop", DOMAIN, "--scopes", SCOPES, environment=environment)
    importing = ("importproducts", "--shop", DOMAIN, str(file))
    runs = {"import": run(importing, "created", environment)}
    # As the worker does within a minute.
    command = [sys.executable, "-m", "benchmarks.counting"]
    settings = {"DJANGO_SETTINGS_MODULE": "storefront.server.settings"}
    subprocess.run(command, env=environment | settings, check=True, timeout=600)
    if size <= MAX_UPDATED_PRODUCTS:
        runs["update"] = run((*importing, "--update"), "skipped", environment)
        runs["export"] = run(
            ("exportproducts", "--shop", DOMAIN, str(FOLDER / "export.jsonl")), "exported", environment
        )
    return {"runs": {name: asdict(each) for name, each in runs.items()}, "token": token.strip()}


def product_file(size: int) -> Path:
    """The generated file, also kept, since both databases are filled from it."""
    path = FOLDER / f"products-{size}-{fingerprint()}.jsonl"
    if not path.exists():
        for stale in FOLDER.glob(f"products-{size}-*"):
            stale.unlink()
        shop.write(path, size)
    return path


def run(arguments: tuple[str, ...], counted: str, environment: dict[str, str]) -> Run:
    """Run and measure a command, which prints the number of products as this member. Raises Broken if it failed."""
    began, samples = time.monotonic(), []
    process = subprocess.Popen(
        [STOREFRONT, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        while process.returncode is None:
            with suppress(OSError):
                samples.append((time.monotonic() - began, memory(process.pid)))
            with suppress(subprocess.TimeoutExpired):
                process.wait(PULSE)
        seconds = time.monotonic() - began
    finally:
        process.kill()
        output = process.communicate()[0]
    if process.returncode:
        raise Broken(f"{arguments[0]} failed: {output.strip()}")
    early = [found.own for at, found in samples if at <= seconds / 4] or [samples[0][1].own]
    return Run(
        products=orjson.loads(output)[counted],
        seconds=seconds,
        resident=max(found.resident for _, found in samples),
        own_early=max(early),
        own_peak=max(found.own for _, found in samples),
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def delete_carts(prepared: Prepared) -> None:
    """Delete the carts that the measurements created, so that the next run finds the same database."""
    code = "from storefront.carts.models import Cart; Cart.objects.all().delete()"
    storefront("shell", "--no-imports", "--command", code, environment=prepared.environment)


def drop(server: str | None) -> None:
    """Remove everything that is kept, including leftovers of killed runs."""
    if server:
        postgres.drop_all(server, FOLDER)
    shutil.rmtree(FOLDER, ignore_errors=True)


def storefront(*arguments: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [STOREFRONT, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise Broken(f"storefront {arguments[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


def clean_environment() -> dict[str, str]:
    """This process's environment without any setting of the service. Its modules are compiled once, as those of an
    installed service are."""
    left_out = (*OURS, "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
