"""Computes what 10,000 shops and a billion requests a month need, from what few shops cost."""

from math import ceil

from tests.load.measured import CART, HIT, LIST, MEBIBYTE, ORDER, PRODUCT_PAGE, Measured

SHOPS, REQUESTS_A_MONTH, SECONDS_A_MONTH = 10_000, 1_000_000_000, 30 * 24 * 3600
# The busiest hours, by the average.
PEAK = 5
# Requests: 90% reads, half of them pages and half lists by the API, of which four in five are in memory; 8% lines in
# carts; 2% calls and pages on the way to an order, which has ten of them.
REQUESTS_OF_AN_ORDER = 10
SHARES = {PRODUCT_PAGE: 0.45, LIST: 0.09, HIT: 0.36, CART: 0.08, ORDER: 0.02 / REQUESTS_OF_AN_ORDER}
# The part of a core that is used at the peak: the rest is for what comes together by chance, and for a lost machine.
USED = 0.6
# Cores of a PostgreSQL server, and the least number of pods, so that one that is away takes a part of the shops only.
CORES_OF_A_DATABASE, MIN_PODS = 8, 2
# Bytes that an order adds to the write-ahead log, by the first table of docs/scale.md, and at most to the tables.
LOG_OF_AN_ORDER = 52_000


def plan(least: Measured, by: Measured) -> list[str]:
    """The lines of the table. `least` and `by` are the smallest and the largest number of shops that was measured."""
    average = REQUESTS_A_MONTH / SECONDS_A_MONTH
    peak = average * PEAK
    web = sum(peak * share * by.costs[name].web / 1000 for name, share in SHARES.items())
    database = sum(peak * share * by.costs[name].database / 1000 for name, share in SHARES.items())
    processes = ceil(web / USED)
    pods = max(MIN_PODS, ceil(database / USED / CORES_OF_A_DATABASE))
    orders = REQUESTS_A_MONTH * SHARES[ORDER]
    shops = (by.size - by.empty) / by.shops * SHOPS
    rows = {
        "Requests a second, on average and at the peak": f"{average:,.0f} and {peak:,.0f}",
        "Orders a month; a second at the peak": f"{orders:,.0f}; {peak * SHARES[ORDER]:.1f}",
        "Cores that web processes use at the peak": f"{web:.1f}",
        f"Web processes, each with a core that is used to {USED:.0%}": f"{processes}",
        "Memory of these": f"{processes * by.resident_after / 1024:.0f} GiB",
        "Cores that PostgreSQL uses at the peak": f"{database:.1f}",
        f"Pods, with {CORES_OF_A_DATABASE} cores for PostgreSQL in each": f"{pods}",
        "Shops in a pod": f"{ceil(SHOPS / pods):,}",
        "Workers, two in each pod, with a core for both": f"{2 * pods}",
        "Databases of all shops without orders": f"{shops / MEBIBYTE / 1024:.1f} GiB",
        "Orders of a year, at most what they write into the log": f"{orders * 12 * LOG_OF_AN_ORDER / 1e12:.1f} TB",
        "Log at the peak, for replicas and backups": f"{peak * SHARES[ORDER] * LOG_OF_AN_ORDER / 1e6:.1f} MB a second",
        "One core used by `podmap`, each half minute": f"{podmap_seconds(least, by) / 30:.0%}",
    }
    return ["| What | Needed |", "|---|---:|", *(f"| {name} | {value} |" for name, value in rows.items())]


def podmap_seconds(least: Measured, by: Measured) -> float:
    """CPU seconds of podmap with all shops, as much more for each further shop as between the two numbers."""
    each = max(0.0, by.podmap - least.podmap) / max(1, by.shops - least.shops)
    return by.podmap + each * (SHOPS - by.shops)
