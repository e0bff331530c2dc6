"""Tasks of the worker."""

from django_tasks import task

from storefront.catalogue.search_index import rewrite_texts
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop


@task()
def rewrite_search_texts(shop_id: int) -> None:
    """Write the shop's search texts again, after a change of what all or many products share: the shop's language, a
    brand's name. Can run again at any time."""
    shop = Shop.objects.filter(pk=shop_id).first()
    if shop is not None and rewrite_texts(shop):
        publish_change(shop.pk)
