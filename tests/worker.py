"""The background worker, run once over what waits."""

from storefront.server.worker import Tasks


def run_due_tasks() -> None:
    """Run every queued task that is due, as the worker does."""
    Tasks().run()
