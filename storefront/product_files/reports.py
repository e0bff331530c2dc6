"""The result of an import, as the command and the admin show it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from storefront.product_files.parsed_products import Problem

# Maximum number of problems, and of changes, in a report, and of characters in them. The callbacks get all of them.
MAX_REPORTED, MAX_REPORT_SIZE = 1000, 8 << 20
COUNTS = ("created", "updated", "skipped", "failed", "conflicts")

Change = dict[str, Any]


@dataclass
class Report:
    """Result of an import: numbers of products created, updated, skipped, failed and in conflict; problems; changes.

    `problems`, `unchanged` (skipped products) and `changes` hold the first thousand, or fewer long ones. A change is
    {line, change: "update", slug, fields: {name: [before, after]}}, in a dry run also {line, change: "create", name}.
    """

    created: int = 0
    updated: int = 0
    skipped: int = 0
    failed: int = 0
    conflicts: int = 0
    problems: list[Problem] = field(default_factory=list)
    unchanged: list[Problem] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def is_complete(self) -> bool:
        """Returns True if every product of the file is now in the shop."""
        return not self.failed and not self.conflicts


# Called with the bytes read so far, the file's size in bytes, and what was done so far.
Progress = Callable[[int, int, Report], None]
