"""The settings of the programs, made of the files in deploy/ that a real deployment uses."""

import os
import re
import shutil
from pathlib import Path

from deploy.local.programs import Failed

DEPLOY = Path(__file__).parents[1]
# Debian keeps servers where only root's PATH leads.
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
# Needed programs, and Debian's package of each.
PACKAGES = {
    "nginx": "nginx",
    "pgbouncer": "pgbouncer",
    "redis-server": "redis-server",
    "psql": "postgresql-client",
    "setpriv": "util-linux",
}
OF_POSTGRESQL = ("initdb", "postgres")
NGINX_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def find_programs() -> dict[str, Path]:
    """Where each program is. Raises Failed, which names every package that is missing."""
    found = {name: shutil.which(name, path=PATH) for name in PACKAGES}
    missing = {PACKAGES[name] for name, path in found.items() if not path}
    server = postgresql()
    if not server:
        missing.add("postgresql")
    if missing:
        names = " ".join(sorted(missing))
        raise Failed(f"Not installed: {names}. On Debian: apt-get install {names}")
    assert server
    return {name: Path(path) for name, path in found.items() if path} | {name: server / name for name in OF_POSTGRESQL}


def postgresql() -> Path | None:
    """The folder of PostgreSQL's newest server on this machine."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -int(folder.parent.name))
    named = shutil.which("initdb", path=PATH)
    every = [*folders, *([Path(named).parent] if named else [])]
    return next((folder for folder in every if all((folder / name).exists() for name in OF_POSTGRESQL)), None)


def nginx_site(folder: Path, *, port: int, plain_port: int, podmap: Path, access_log: Path) -> str:
    """All of nginx's settings for deploy/nginx-pods.conf on this machine, without TLS. `plain_port` is the one that
    only redirects."""
    text = (DEPLOY / "nginx-pods.conf").read_text()
    for before, after in {
        "listen 443 ssl http2 default_server": f"listen 127.0.0.1:{port}",
        "listen 80 default_server": f"listen 127.0.0.1:{plain_port}",
        "/etc/nginx/storefront-pods.map": str(podmap),
        "/var/log/nginx/storefront.log": str(access_log),
    }.items():
        if before not in text:
            raise Failed(f"deploy/nginx-pods.conf has no {before!r}")
        text = text.replace(before, after)
    text = re.sub(r"^ *ssl_certificate.*\n", "", text, flags=re.MULTILINE)
    folders = "".join(f"{name}_temp_path {folder}/{name};\n" for name in NGINX_FOLDERS)
    user = "user root;\n" if os.geteuid() == 0 else ""
    return (
        f"{user}daemon off;\nworker_processes 2;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{folders}{text}\n}}\n"
    )
