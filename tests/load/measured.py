"""What was measured at one number of shops, and the table of it."""

from dataclasses import dataclass, field

MEBIBYTE = 1024 * 1024
# The kinds of requests.
LIST = "A list that nobody asked for before"
HIT = "The same from memory"
PRODUCT_PAGE = "A page of a product"
CART = "A line in a new cart"
ORDER = "An order, with its cart and pages"


@dataclass
class Cost:
    """Milliseconds of CPU for one request, in the web process and in the database, and its median duration."""

    web: float
    database: float
    median: float

    def text(self) -> str:
        return f"{self.web:.2f} + {self.database:.2f}"


@dataclass
class Measured:
    """What one number of shops cost. Seconds, and bytes."""

    shops: int
    making: float = 0.0
    size: int = 0
    empty: int = 0
    start: float = 0.0
    start_cpu: float = 0.0
    resident: float = 0.0
    resident_after: float = 0.0
    podmap: float = 0.0
    costs: dict[str, Cost] = field(default_factory=dict)


def table(measured: list[Measured]) -> str:
    rows: dict[str, list[str]] = {
        "Making a shop with 12 products, s": [f"{each.making:.2f}" for each in measured],
        "Database, MiB": [f"{each.size / MEBIBYTE:,.0f}" for each in measured],
        "Database for each shop, KiB": [f"{(each.size - each.empty) / 1024 / each.shops:,.0f}" for each in measured],
        "Start of a web server, s": [f"{each.start:.1f}" for each in measured],
        "CPU of that, s": [f"{each.start_cpu:.1f}" for each in measured],
        "Memory of its web process at the start, MiB": [f"{each.resident:.0f}" for each in measured],
        "Memory after all requests below, MiB": [f"{each.resident_after:.0f}" for each in measured],
        "CPU of `podmap`, s": [f"{each.podmap:.1f}" for each in measured],
    }
    for name in measured[0].costs:
        rows[f"{name}: CPU ms, web + database"] = [each.costs[name].text() for each in measured]
        rows[f"{name}: median, ms"] = [f"{each.costs[name].median:.1f}" for each in measured]
    heads = [f"{each.shops:,} shop{'s' * (each.shops > 1)}" for each in measured]
    lines = [f"| What | {' | '.join(heads)} |", f"|---{'|---:' * len(heads)}|"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(values)} |" for name, values in rows.items())])
