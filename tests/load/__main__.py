"""The command: `python -m tests.load [--seconds N] [--shops N] [--moves N] [--rate N] [--port PORT] [--write]`."""

import argparse
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.report import write
from deploy.local.deployment import Deployment, running
from deploy.local.programs import Ended, Failed, end_on_signals
from tests.load import moves
from tests.load.checking import compare
from tests.load.kills import Kill, kill
from tests.load.report import BEGIN, END, PAGE, Run
from tests.load.shoppers import GIVE_UP_SECONDS, shopping

# Seconds between two kills, at least one a minute, so that five minutes have each of them.
KILL_SECONDS = 45
# Seconds between two looks at the programs.
LOOK_SECONDS = 0.2
NO_LIMITS = ("BASKETS", "ARRIVALS", "ORDERS", "ORDERS_EACH", "UNPAID", "UNPAID_EACH", "MAILS_EACH", "PAYMENTS")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="how long shoppers begin something (%(default)s)")
    parser.add_argument("--shops", type=int, default=200, help="shops in both pods together (%(default)s)")
    parser.add_argument("--moves", type=int, default=10, help="shops that are moved meanwhile (%(default)s)")
    parser.add_argument("--rate", type=float, default=40, help="what shoppers begin a second, at most (%(default)s)")
    parser.add_argument("--kills", type=int, help=f"programs that are killed (one in {KILL_SECONDS} s)")
    parser.add_argument("--port", type=int, default=0, help="port of nginx, and those after it (any free ones)")
    parser.add_argument("--write", action="store_true", help="write the report into docs/scale.md")
    given = parser.parse_args()
    if min(given.seconds, given.shops, given.rate) <= 0 or given.moves < 0 or given.moves > given.shops:
        parser.error("seconds, shops and rate must be above 0, and moves from 0 to the number of shops")
    end_on_signals()
    kills = max(1, given.seconds // KILL_SECONDS) if given.kills is None else given.kills
    # Below /tmp, where PostgreSQL's user can enter.
    folder = Path(tempfile.mkdtemp(prefix="storefront-load-", dir="/tmp"))
    limits = {f"STOREFRONT_LIMIT_{name}": "0" for name in NO_LIMITS}
    try:
        with running(folder, port=given.port, given=limits, shops=given.shops, report=say) as deployment:
            run = load(deployment, given.seconds, given.rate, kills, given.moves)
    except Failed as failure:
        say(str(failure))
        return 1
    except Ended:
        say("Ended before there was anything to compare.")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = "\n".join(run.lines())
    sys.stdout.write(f"{text}\n")
    if given.write:
        write(text, BEGIN, END, PAGE)
    return 0 if run.is_right else 1


def load(deployment: Deployment, seconds: float, rate: float, kills: int, moved: int) -> Run:
    """Let shoppers shop, and meanwhile kill programs at equal distances, and move shops."""
    shops, killed = deployment.shops(), list[Kill]()
    say(f"Shoppers begin, for {seconds} s.")
    before = spent(deployment)
    with shopping(deployment.port, shops, seconds=seconds, rate=rate) as (seen, shoppers):
        began = time.monotonic()
        moving, mover = moves.begin(deployment, shops, moved, seconds)
        while time.monotonic() < began + seconds or is_busy([*shoppers, mover], began + seconds):
            deployment.tend()
            cpu = spent(deployment)
            if len(killed) < kills and time.monotonic() > began + (len(killed) + 1) * seconds / (kills + 1):
                killed.append(kill(deployment, len(killed)))
                say(f"Killed: {killed[-1].what}")
            time.sleep(LOOK_SECONDS)
    lasted = time.monotonic() - began
    say("Comparing what is stored.")
    compared = compare(deployment, shops, seen)
    used = {name: value - before[name] for name, value in cpu.items()}
    return Run(seconds, lasted, rate, seen, killed, moving, compared, used)


def spent(deployment: Deployment) -> dict[str, float]:
    return {program.name: program.spent() for program in deployment.programs}


def is_busy(threads: list[threading.Thread], since: float) -> bool:
    """Shoppers and moves end what they have begun, for as long as that may take."""
    return (
        any(thread.is_alive() for thread in threads)
        and time.monotonic() < since + moves.MOVE_SECONDS * moves.ATTEMPTS + GIVE_UP_SECONDS
    )


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
