from django.db import connection

from storefront.server import readiness, sealed
from storefront.server.command import Command as Base
from storefront.server.database_wait import wait_for_database
from storefront.server.metrics import directory, serving
from storefront.server.replica_check import require_own_replicas
from storefront.server.worker import worker


class Command(Base):
    help = "Run only the background worker: queued tasks and clean-up of expired data."

    def handle(self, **_options) -> None:
        wait_for_database(connection)
        readiness.require_migrated_database()
        require_own_replicas()
        readiness.require_buckets()
        sealed.warn_of_unreadable()
        readiness.restrict_data_permissions()
        readiness.raise_descriptor_limit()
        serving.start_thread()
        worker.run()
        directory.remove()
