from storefront.server import readiness
from storefront.server.command import Command as Base
from storefront.server.worker import Worker


class Command(Base):
    help = "Run background work alone: queued tasks, and clearing out what has expired."

    def handle(self, **_options) -> None:
        readiness.require_migrated_database()
        worker = Worker()
        worker.stop_on_signals()
        worker.run()
