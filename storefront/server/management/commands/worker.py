from storefront.server import readiness, worker
from storefront.server.command import Command as Base


class Command(Base):
    help = "Run background work alone: queued tasks, and clearing out what has expired."

    def handle(self, **_options) -> None:
        readiness.require_migrated_database()
        worker.run()
