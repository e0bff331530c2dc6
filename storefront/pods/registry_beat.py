"""The beat of the published registry, by whose age the other pods know how old their copy is."""

from datetime import datetime

from django.conf import settings
from django.db import connection

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.pods.models import RegistryBeat
from storefront.pods.registry import PUBLICATION


def beat(*, now: datetime, limit: int = 1) -> int:
    """Write the time in pod 0, if other pods can read its registry. A sweep of the worker: returns 0, since it clears
    nothing."""
    if is_published():
        RegistryBeat.objects.update_or_create(id=1, defaults={"at": now})
    return 0


def is_published() -> bool:
    if not IS_POSTGRESQL or settings.POD:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = %s)", [PUBLICATION])
        return bool(cursor.fetchone()[0])
