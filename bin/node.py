"""The Node tools that tests and checks use, fetched from npm into the virtual environment and pinned to what Node 20
runs."""

import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

FOLDER = Path(sys.prefix) / "node"
PACKAGES = (
    "@hey-api/openapi-ts@0.95.0",
    "@redocly/cli@2.0.0",
    "@stoplight/spectral-cli@6.16.3",
    "@types/node@20.19.43",
    "openapi-fetch@0.14.1",
    "openapi-typescript@7.13.0",
    "standardwebhooks@1.0.0",
    "typescript@5.9.3",
)
_DEADLINE_SECONDS = 180


def fetch() -> bool:
    """Install the packages if there is npm, unless they are there. Returns whether they are."""
    npm = shutil.which("npm")
    done = FOLDER / "installed"
    if npm and not (done.exists() and done.read_text().split() == list(PACKAGES)):
        FOLDER.mkdir(parents=True, exist_ok=True)
        command = [
            npm,
            "install",
            "--no-audit",
            "--no-fund",
            "--silent",
            "--fetch-retries=1",
            "--prefix",
            str(FOLDER),
            *PACKAGES,
        ]
        with suppress(subprocess.TimeoutExpired):
            result = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=_DEADLINE_SECONDS, check=False)
            if result.returncode == 0:
                done.write_text("\n".join(PACKAGES))
    return is_there()


def is_there() -> bool:
    """Whether Node and the packages are there."""
    return shutil.which("node") is not None and (FOLDER / "installed").exists()


def tool(name: str) -> str:
    """The path of a tool, such as `tsc`."""
    return str(FOLDER / "node_modules" / ".bin" / name)
