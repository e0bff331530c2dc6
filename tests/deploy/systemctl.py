#!/usr/bin/python3
"""Stands in for systemctl where no systemd runs: starts what units say, as their users, with their variables.

It reads ExecStart, User, Environment, EnvironmentFile, StateDirectory, AmbientCapabilities and Type of units and their
drop-ins. What else they ask for, such as the hardening, is not applied; `systemd-analyze verify` looks at that.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDERS = [Path("/etc/systemd/system"), Path("/lib/systemd/system")]
RUN = Path("/run/stand-in")


def main() -> None:
    action, *names = [word for word in sys.argv[1:] if word != "--now"]
    RUN.mkdir(exist_ok=True)
    for name in names:
        unit = read(name)
        if name.endswith(".timer"):
            # Nothing to wait for, but what it starts must be there.
            read(name.replace(".timer", ".service"))
        elif action in ("enable", "start"):
            start(name, unit)
        elif action == "restart":
            stop(name)
            start(name, unit)
        else:
            sys.exit(f"the stand-in knows no {action}")


def read(name: str) -> dict[str, list[str]]:
    file = name if "." in name else f"{name}.service"
    found = next((folder / file for folder in FOLDERS if (folder / file).exists()), None)
    if found is None:
        sys.exit(f"Unit {file} not found.")
    unit: dict[str, list[str]] = {}
    for path in [found, *sorted(Path(f"/etc/systemd/system/{file}.d").glob("*.conf"))]:
        for line in path.read_text().splitlines():
            key, is_setting, value = line.partition("=")
            if is_setting and not line.startswith("#"):
                unit.setdefault(key.strip(), []).append(value.strip())
    return unit


def start(name: str, unit: dict[str, list[str]]) -> None:
    user = unit["User"][-1]
    environment = {"PATH": os.environ["PATH"], "HOME": os.path.expanduser(f"~{user}"), "LANG": "C.UTF-8"}
    for path in unit.get("EnvironmentFile", []):
        environment.update(line.split("=", 1) for line in Path(path).read_text().splitlines() if "=" in line)
    for words in unit.get("Environment", []):
        environment.update(word.split("=", 1) for word in shlex.split(words))
    for folder in unit.get("StateDirectory", []):
        subprocess.run(["install", "-d", "-m", "0700", "-o", user, "-g", user, f"/var/lib/{folder}"], check=True)
    command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
    if unit.get("AmbientCapabilities"):
        command += ["--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"]
    command += ["--", *shlex.split(with_own_certificates(unit["ExecStart"][-1]))]
    with Path(f"/var/log/{name}.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True, cwd="/")
    if unit.get("Type", [""])[-1] == "oneshot":
        if process.wait():
            sys.exit(Path(f"/var/log/{name}.log").read_text()[-2000:])
        return
    time.sleep(1)
    if process.poll() is not None:
        sys.exit(Path(f"/var/log/{name}.log").read_text()[-2000:])
    (RUN / name).write_text(str(process.pid))


def with_own_certificates(command: str) -> str:
    """Caddy's command, with certificates of its own instead of Let's Encrypt's, which cannot reach this machine."""
    if "/caddy " not in command:
        return command
    changed = Path("/run/stand-in/Caddyfile")
    changed.write_text("{\n\tlocal_certs\n\tskip_install_trust\n}\n" + Path("/etc/caddy/Caddyfile").read_text())
    return command.replace("/etc/caddy/Caddyfile", str(changed))


def stop(name: str) -> None:
    pid_file = RUN / name
    if pid_file.exists():
        pid = int(pid_file.read_text())
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").exists() and b") Z" not in Path(f"/proc/{pid}/stat").read_bytes():
            time.sleep(0.05)
        pid_file.unlink()


if __name__ == "__main__":
    main()
