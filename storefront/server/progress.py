"""A bar that shows how far a command is, while stderr is a terminal."""

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn


def progress_bar(counted: ProgressColumn | None = None) -> Progress:
    """The bar. `counted` shows how much is done, by default in percent."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), counted or TaskProgressColumn())
    is_hidden = not sys.stderr.isatty()
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=is_hidden, transient=True)


def write_beside(progress: Progress, text: str) -> None:
    """Write a message for people to stderr, above the bar."""
    if progress.disable:
        sys.stderr.write(f"{text}\n")
    else:
        progress.console.print(text, markup=False, highlight=False)
