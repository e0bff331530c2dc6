"""The only definition of the categories that shoppers and integrations see (R-CAT-34): they and all their ancestors are
active. An inactive category hides its whole branch. As a condition for the ORM and as SQL."""

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from storefront.catalogue.models import Category
from storefront.shops.models import Shop

# The condition for the category `c`. An index of the inactive categories, which are few, finds all hidden branches.
_HIDDEN = (
    "SELECT below.id FROM catalogue_category hiding JOIN catalogue_category below"
    " ON below.shop_id = hiding.shop_id AND below._lft BETWEEN hiding._lft AND hiding._rgt"
    " WHERE hiding.shop_id = {} AND NOT hiding.is_active"
)
SHOWN = f"c.id NOT IN ({_HIDDEN.format('%(shop)s')})"


def shown_categories(shop: Shop) -> QuerySet[Category]:
    return Category.objects.filter(shop=shop).exclude(pk__in=RawSQL(_HIDDEN.format("%s"), [shop.pk]))  # noqa: S611
