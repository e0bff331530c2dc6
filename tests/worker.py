"""Runs the background worker's tasks in a test."""

from storefront.server.worker.tasks import Tasks


def run_due_tasks() -> None:
    """Run every queued task that is due, as the worker does."""
    Tasks().run()
