"""The load of the busiest shops, from the seconds that all processes count for each shop.

A deployment may have thousands of shops, and a label for each would cost Prometheus a series each. So the counts are
not published: of the last WINDOW_SECONDS, the MAX_SHOPS busiest shops are, and the others together. A gauge, since the
sum of the others falls when one of them joins the busiest.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from storefront.kit import metrics

MAX_SHOPS, OTHERS = 20, "other"
WINDOW_SECONDS, SAMPLE_SECONDS = 300.0, 60.0
(COUNTED,) = (each.name for each in metrics.SHOP_SECONDS.describe())


class ShopLoad:
    """Keeps a sample of the counts of all shops for each minute of the window."""

    def __init__(self) -> None:
        # The time on the monotonic clock, and seconds by shop.
        self.samples: deque[tuple[float, dict[str, float]]] = deque()

    def replace(self, families: Iterable[Metric], now: float | None = None) -> Iterator[Metric]:
        """The families, with the load instead of the counts by shop."""
        counts: dict[str, float] = {}
        for family in families:
            if family.name == COUNTED:
                counts = {each.labels["shop"]: each.value for each in family.samples if each.name.endswith("_total")}
            else:
                yield family
        yield self._load(counts, time.monotonic() if now is None else now)

    def _load(self, counts: dict[str, float], now: float) -> Metric:
        if not self.samples or now - self.samples[-1][0] >= SAMPLE_SECONDS:
            self.samples.append((now, counts))
        # One sample from before the window stays, so that the window is never shorter.
        while len(self.samples) > 1 and now - self.samples[1][0] >= WINDOW_SECONDS:
            self.samples.popleft()
        since, before = self.samples[0]
        seconds = {shop: count - before.get(shop, 0.0) for shop, count in counts.items()}
        busy = sorted((each for each in seconds.items() if each[1] > 0), key=lambda each: -each[1])
        found = GaugeMetricFamily(
            "storefront_shop_load",
            f"Threads that a shop's requests kept busy on average in {WINDOW_SECONDS / 60:.0f} minutes, for the "
            f"{MAX_SHOPS} busiest shops, and for all others together.",
            labels=["shop"],
        )
        elapsed = max(now - since, 1.0)
        for shop, took in busy[:MAX_SHOPS]:
            found.add_metric([shop], took / elapsed)
        found.add_metric([OTHERS], sum(took for _, took in busy[MAX_SHOPS:]) / elapsed)
        return found
