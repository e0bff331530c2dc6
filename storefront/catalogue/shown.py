"""Which categories shoppers and integrations see (R-CAT-34): those that are active, and so are all above
them. An inactive one hides its whole branch. As a condition for the ORM and as SQL. Defined only here."""

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from storefront.catalogue.models import Category
from storefront.shops.models import Shop

# For the category `c`. Inactive ones are few: the branches of all are found at once, by an index of their own.
_HIDDEN = (
    "SELECT below.id FROM catalogue_category hiding JOIN catalogue_category below"
    " ON below.shop_id = hiding.shop_id AND below._lft BETWEEN hiding._lft AND hiding._rgt"
    " WHERE hiding.shop_id = {} AND NOT hiding.is_active"
)
SHOWN = f"c.id NOT IN ({_HIDDEN.format('%(shop)s')})"


def shown_categories(shop: Shop) -> QuerySet[Category]:
    return Category.objects.filter(shop=shop).exclude(pk__in=RawSQL(_HIDDEN.format("%s"), [shop.pk]))  # noqa: S611
