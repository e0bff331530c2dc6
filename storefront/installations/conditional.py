"""Conditional writes (`If-Match`) to records that an app has registered (R-CALL-30)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from storefront.installations.app_tokens import lock_installation
from storefront.kit.api.conditional import has_if_match, only_if_match
from storefront.shops.request import Request, calling_installation


@contextmanager
def only_own_if_match(request: Request, row: QuerySet[Any], read: Callable[[], Any]) -> Iterator[None]:
    """Like `only_if_match`, for a record of the calling app. Locks the installation before the record, in the order in
    which an uninstall does, so that the two cannot deadlock. Raises Unauthenticated if the app was uninstalled
    meanwhile."""
    with transaction.atomic():
        if has_if_match(request):
            lock_installation(shop=request.shop, installation_id=calling_installation(request))
        with only_if_match(request, read, row):
            yield
