"""Copies what a web process counts without the library into its metrics, every PAUSE_SECONDS."""

import threading
import time

from storefront.kit import metrics
from storefront.kit.replicas import watching
from storefront.server.edge import listening
from storefront.server.edge.edge import Edge

PAUSE_SECONDS = 1.0


class Publisher(threading.Thread):
    """Copies the counts of this edge, and the state of the listener."""

    def __init__(self, edge: Edge) -> None:
        super().__init__(name="metrics", daemon=True)
        self.edge = edge
        self.published = (0, 0)

    def run(self) -> None:
        metrics.WEB_PROCESSES.set(1)
        heard_at = metrics.HEARD_AT.labels("web")
        while True:
            self.publish()
            # The listener may not have connected yet.
            heard_at.set(listening.heard_at() or time.time())
            time.sleep(PAUSE_SECONDS)

    def publish(self) -> None:
        before, self.published = self.published, (self.edge.hits, self.edge.misses)
        for result, was, became in zip(("hit", "miss"), before, self.published, strict=True):
            metrics.EDGE_ANSWERS.labels(result).inc(became - was)
        metrics.LISTENERS.set(listening.is_connected())
        for replica in watching.known():
            metrics.REPLICAS_WELL.labels(replica.alias).set(not replica.trouble)
            metrics.REPLICA_LAG.labels(replica.alias).set(replica.lag_seconds)
