"""Moves shops from pod to pod while they sell, by `storefront moveshop`, one after the other."""

import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from deploy.local.deployment import Deployment
from deploy.local.programs import Failed
from tests.load.checking import pods_by_host

# Seconds for one move, which waits for databases and programs that are killed meanwhile.
MOVE_SECONDS = 240.0
# Attempts to go on with a move that was interrupted.
ATTEMPTS = 3


@dataclass
class Moves:
    """The durations of moves, and for how long the shops refused writes meanwhile, in seconds; and why others were not
    made."""

    asked: int
    seconds: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)

    def sentence(self) -> str:
        if not self.asked:
            return "No shop was moved, as asked (MOVES=0)."
        lasted = ""
        if self.seconds:
            lasted = (
                f", in {min(self.seconds):.0f} to {max(self.seconds):.0f} s each; each refused writes for "
                f"{min(self.stops):.1f} to {max(self.stops):.1f} s"
            )
        failed = f" Not moved: {'; '.join(self.failed)}." if self.failed else ""
        return f"{len(self.seconds)} of {self.asked} shops were moved to the other pod{lasted}.{failed}"


def begin(
    deployment: Deployment, shops: list[dict[str, Any]], number: int, seconds: float
) -> tuple[Moves, threading.Thread]:
    """Begin to move so many shops within `seconds`, in a thread of its own."""
    moves = Moves(number)
    pause = seconds / (number + 1)

    def move_all() -> None:
        try:
            for place, shop in enumerate(shops[:number]):
                time.sleep(max(0.0, began + place * pause - time.monotonic()))
                move(deployment, shop, moves)
        except BaseException as error:
            moves.broken.append(error)

    began = time.monotonic()
    thread = threading.Thread(target=move_all, daemon=True)
    thread.start()
    return moves, thread


def move(deployment: Deployment, shop: dict[str, Any], moves: Moves) -> None:
    """Move it to the other pod. A move that is interrupted by a kill is asked for again, as an operator would."""
    source = pods_by_host(deployment)[shop["domain"]]
    target = next(pod for pod in deployment.pods if pod.number != source)
    given = ["--shop", shop["domain"], "--to", str(target.number), "--pods", str(deployment.listed)]
    began, reason = time.monotonic(), ""
    for _ in range(ATTEMPTS):
        try:
            printed = deployment.storefront(deployment.pods[source], "moveshop", *given, seconds=MOVE_SECONDS)
        except Failed as failure:
            reason = str(failure).strip().splitlines()[-1].strip()
        else:
            moves.seconds.append(time.monotonic() - began)
            moves.stops.append(json.loads(printed.splitlines()[-1])["stop_seconds"])
            return
    moves.failed.append(f"{shop['domain']} ({reason})")
