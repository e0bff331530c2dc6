"""The directory of the files in which processes count."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# In memory where possible: the figures need not outlive the machine, and a process that writes to a mapped file on a
# full disk is killed.
_ROOT = Path("/dev/shm")  # noqa: S108, the directory in it is new and has a random name
_PREFIX = "storefront-metrics-"


def prepare() -> None:
    """Make the directory, if figures are wanted (STOREFRONT_METRICS). Call it before Django is set up: the library
    looks for the directory when it is imported. Child processes inherit it."""
    if not os.environ.get("STOREFRONT_METRICS", "").strip() or VARIABLE in os.environ:
        return
    root = _ROOT if os.access(_ROOT, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    remove_abandoned(root, _PREFIX)
    os.environ[VARIABLE] = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root)


def remove() -> None:
    """Remove this process's directory, at the end of all processes that count in it."""
    path = Path(os.environ.get(VARIABLE, ""))
    if path.name.startswith(f"{_PREFIX}{os.getpid()}-"):
        shutil.rmtree(path, ignore_errors=True)


def is_running(pid: int) -> bool:
    """Returns True if the process exists and has not ended. A killed process exists until its parent has waited for it,
    which can only be detected on Linux here."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    with suppress(OSError):
        # The name, in brackets, may have any character; the state follows it.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    return True


def remove_abandoned(root: Path, prefix: str) -> None:
    """Remove the directories with this prefix, which a process id follows, of our own processes that were killed."""
    for path in root.glob(f"{prefix}*"):
        with suppress(OSError, ValueError):
            pid = int(path.name.removeprefix(prefix).partition("-")[0])
            if path.stat().st_uid == os.getuid() and not is_running(pid):
                shutil.rmtree(path)
