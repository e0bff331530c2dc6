"""Which categories shoppers and integrations see (R-CAT-34): those that are active, and so are all above
them. An inactive one hides its whole branch. As a condition for the ORM and as SQL. Defined only here."""

from django.db.models import Exists, OuterRef, QuerySet

from storefront.catalogue.models import Category
from storefront.shops.models import Shop

# For the category `c`. Inactive ones are few: the branches of all are found at once, by an index of their own.
SHOWN = (
    "c.id NOT IN (SELECT below.id FROM catalogue_category hiding JOIN catalogue_category below"
    " ON below.shop_id = hiding.shop_id AND below._lft BETWEEN hiding._lft AND hiding._rgt"
    " WHERE hiding.shop_id = %(shop)s AND NOT hiding.is_active)"
)


def shown_categories(shop: Shop) -> QuerySet[Category]:
    hiding = Category.objects.filter(shop=shop, is_active=False, lft__lte=OuterRef("lft"), rgt__gte=OuterRef("rgt"))
    return Category.objects.filter(~Exists(hiding), shop=shop)
