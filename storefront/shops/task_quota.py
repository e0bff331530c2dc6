"""The quota of tasks (`shops.quotas`): the shop's imports, exports and erasures that wait or run."""

from django.db import transaction
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from storefront.kit.queues import FILES
from storefront.shops import quotas
from storefront.shops.models import Shop

UNFINISHED = (TaskResultStatus.READY, TaskResultStatus.RUNNING)


def unfinished_tasks(shop: Shop) -> int:
    """How many tasks of files the shop has; each has the shop's id as its first argument."""
    return DBTaskResult.objects.filter(queue_name=FILES, status__in=UNFINISHED, args_kwargs__args__0=shop.pk).count()


@transaction.atomic
def check_tasks(*, shop: Shop) -> None:
    """Raises QuotaReached if the shop has as many as it can. Locks the shop until the caller's transaction ends, so
    that of two at once the second counts the first one's task."""
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    most = quotas.limits_of(shop.pk)["tasks"]
    quotas.check("tasks", most=most, count=lambda: unfinished_tasks(shop))
