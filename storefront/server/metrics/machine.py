"""Figures of this machine: the room on its disks, and its last backup."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from storefront.server import disk


class MachineFigures(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        free = GaugeMetricFamily(
            "storefront_disk_free_bytes", "Bytes that are free for the data directory and the database.", labels=["of"]
        )
        size = GaugeMetricFamily("storefront_disk_size_bytes", "Bytes of these file systems.", labels=["of"])
        try:
            rooms = disk.rooms()
        except OSError:
            rooms = {}
        for name, room in rooms.items():
            free.add_metric([name], room.free)
            size.add_metric([name], room.size)
        yield from (free, size)
        if settings.BACKUP_MARKER:
            yield GaugeMetricFamily(
                "storefront_backup_timestamp_seconds", "When the last backup ended; 0: never.", last_backup()
            )


def last_backup() -> float:
    """When STOREFRONT_BACKUP_MARKER was written last, in Unix seconds; 0 without such a file."""
    try:
        return Path(settings.BACKUP_MARKER or "").stat().st_mtime
    except OSError:
        return 0.0
