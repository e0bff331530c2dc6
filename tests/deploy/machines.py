"""A bare Debian in a folder, with processes and a network of its own, on which a test does what a page says."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TOOLS = ("debootstrap", "unshare", "nsenter", "chroot", "mount", "ip")
_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
_IN_CHROOT = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Where packages come from, and by which certificates, as on the machine that runs the test.
_PACKAGE_SETTINGS = (
    "/etc/resolv.conf",
    "/etc/pip.conf",
    "/etc/xdg/pip",
    "/root/.config/pip",
    "/etc/apt/apt.conf.d/99artifact-registry",
)
_PACKAGE_VARIABLES = ("PIP_", "UV_", "http_proxy", "https_proxy", "no_proxy")
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_OWN_CERTIFICATES = "/root/certificates.pem"


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if not shutil.which(tool, path=_PATH)] + ["root"] * (os.geteuid() != 0)


class Machine:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.inside = 0

    def install(self, suite: str) -> None:
        """Make the bare Debian, in which packages start no services: `boot` does, as after an installation."""
        command = ["debootstrap", "--variant=minbase", suite, str(self.root)]
        done = subprocess.run(
            command, env={**os.environ, "PATH": _PATH}, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        self.prepare()

    def prepare(self) -> None:
        if _CERTIFICATES.exists():
            shutil.copy(_CERTIFICATES, self.root / _OWN_CERTIFICATES.lstrip("/"))
        for path in map(Path, _PACKAGE_SETTINGS):
            target = self.root / path.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, target, dirs_exist_ok=True)
            elif path.exists():
                shutil.copy(path, target)
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

    def run(self, script: str, *, seconds: float, **variables: str) -> str:
        """Run the script as root, with the machine's own network once it has booted, and that of this one before.
        Returns what it prints."""
        chroot = ["chroot", str(self.root), "bash", "-euo", "pipefail", "-c", script]
        if self.inside:
            command = ["nsenter", f"--target={self.inside}", "--net", "--pid", "--mount", *chroot]
        else:
            command = [
                "unshare",
                "--pid",
                "--mount",
                "--fork",
                "--kill-child",
                f"--mount-proc={self.root}/proc",
                *chroot,
            ]
        environment = {"HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8", **variables}
        if not self.inside:
            environment |= {name: value for name, value in os.environ.items() if name.startswith(_PACKAGE_VARIABLES)}
            environment |= dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE"), _OWN_CERTIFICATES)
        started = ["env", "-i", f"PATH={_PATH}", *(f"{name}={value}" for name, value in environment.items())]
        # The path of the chroot comes last, since its programs are looked up in it.
        command[-5:] = ["env", f"PATH={_IN_CHROOT}", *command[-5:]]
        done = subprocess.run(
            [*started, *command], capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, f"{script}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout + done.stderr

    @contextmanager
    def booted(self) -> Iterator[None]:
        """From now on it has a network of its own, of loopback alone, and processes that end with the block."""
        prepare = (
            f"ip link set lo up; mount -t proc proc {self.root}/proc;"
            f" mkdir -p {self.root}/dev/shm; mount -t tmpfs tmpfs {self.root}/dev/shm; exec sleep 3600"
        )
        command = ["unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "sh", "-euc", prepare]
        holder = subprocess.Popen(command, env={"PATH": _PATH})
        try:
            self.inside = self._first_process(holder)
            yield
        finally:
            self.inside = 0
            holder.kill()
            holder.wait()

    def _first_process(self, holder: subprocess.Popen) -> int:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            assert holder.poll() is None, "no namespaces can be made here"
            with suppress(OSError, IndexError):
                pid = int(Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()[0])
                if Path(f"/proc/{pid}/comm").read_text() == "sleep\n":
                    return pid
            time.sleep(0.05)
        raise AssertionError("the machine did not boot")
