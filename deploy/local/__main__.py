"""The command: `python -m deploy.local [--folder FOLDER] [--port PORT] [--with-shops N]`."""

import argparse
import sys
import time
from pathlib import Path

from deploy.local.deployment import PORTS, Deployment, running
from deploy.local.programs import Ended, Failed, end_on_signals

# Seconds between two looks at the programs.
LOOK_SECONDS = 0.5
MAX_SHOPS = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="make local", description="Run two pods on this machine, until Ctrl-C.")
    parser.add_argument("--folder", type=Path, default=Path("var/local"), help="where it is kept (%(default)s)")
    parser.add_argument(
        "--port", type=port, default=8100, help=f"port of nginx; the {PORTS - 1} after it are used, too (%(default)s)"
    )
    parser.add_argument("--with-shops", type=shops, default=4, metavar="N", help="make N small shops (%(default)s)")
    given = parser.parse_args()
    end_on_signals()
    folder = given.folder.absolute()
    try:
        with running(folder, port=given.port, shops=given.with_shops, report=say) as deployment:
            say(welcome(deployment))
            while True:
                time.sleep(LOOK_SECONDS)
                deployment.tend()
    except Failed as failure:
        say(str(failure))
        return 1
    except Ended:
        say("Everything has ended.")
        return 0


def port(text: str) -> int:
    if not text.isdecimal() or not (text == "0" or 1024 <= int(text) <= 65536 - PORTS):
        raise argparse.ArgumentTypeError(
            f"expected a port from 1024 to {65536 - PORTS}, or 0 for free ones, not {text}"
        )
    return int(text)


def shops(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_SHOPS:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {MAX_SHOPS}, not {text}")
    return int(text)


def welcome(deployment: Deployment) -> str:
    lines = ["", f"Two pods, behind nginx on port {deployment.port}. Ctrl-C ends everything.", ""]
    for shop in deployment.shops()[:4]:
        lines.append(f"  A shop         {deployment.url(shop['domain'])}/  token {shop['token']}")
    for pod in deployment.pods:
        web = ", ".join(map(str, pod.web))
        lines.append(f"  Pod {pod.number}          admin {deployment.url(pod.admin_host)}/admin/")
        lines.append(f"                 PostgreSQL {pod.postgresql}, PgBouncer {pod.pgbouncer}, web servers {web}")
    lines.append(f"  Redis          {deployment.redis_port}")
    lines.append(f"  The map        {deployment.map}, of the pods in {deployment.listed}")
    lines.append(f"  All shops      {deployment.shops_file}")
    lines.append(f"  Logs, mails    {deployment.folder}/log, {deployment.folder}/mail")
    return "\n".join([*lines, ""])


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
