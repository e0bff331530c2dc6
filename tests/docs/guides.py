"""Runs the commands of a guide as they stand, and compares what they print with what the page says."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
# What a reader takes out of a response and uses in later commands.
TAKEN = {
    "CART": r'"cart_token":"(cart_[^"]+)"',
    "ETAG": r"(?i)^etag: (\S+)",
    "LINK": r'"checkout_url":"([^"]+)"',
    "TOKEN": r"^(api_\S+)$",
}


def run_guide(
    name: str,
    given: dict[str, str],
    *,
    after: Callable[[str, dict[str, str]], None] | None = None,
    folder: Path | None = None,
) -> int:
    """Run each `sh` block of the page with these variables, in this folder. Lines that begin with `# ` show what it
    prints, with `...` for what is left out. `after` is called with the output of each. Returns how many there are."""
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)
    for block in blocks:
        environment = {"PATH": os.environ["PATH"]} | given
        script = ["bash", "-euc", block]
        said = subprocess.run(
            script, env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=240
        ).stdout.replace("\r", "")
        place = 0
        for piece in _shown(block):
            assert piece in said[place:], f"{block}\n{said}"
            place = said.index(piece, place) + len(piece)
        for variable, pattern in TAKEN.items():
            if found := re.search(pattern, said, re.MULTILINE):
                given[variable] = found[1]
        if after:
            after(said, given)
    return len(blocks)


def _shown(block: str) -> list[str]:
    """The pieces of the output that the page shows."""
    shown = "".join(line[2:] for line in block.splitlines() if line.startswith("# "))
    return [piece for piece in shown.split("...") if piece]
