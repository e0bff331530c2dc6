"""The columns that are members of a native product file. `catalogue/fields.py` defines how each type is converted."""

from functools import cache

from django.db import models

from storefront.catalogue.fields import Kind, kind_of
from storefront.catalogue.models import RelatedProduct
from storefront.product_files.parsed_products import NAMED

# Columns that a file does not set: ids, values derived from others, times of creation, change and deletion.
LEFT_OUT = {"id", "shop", "product", "option", "bundle", "created_at", "updated_at", "deleted_at", "sort_name", "slug"}
LEFT_OUT |= {"lft", "rgt", "parent", "image", "banner", "file", "type", "default_variant", *NAMED}
# Lists of slugs of other products, by kind of relation.
RELATED = {RelatedProduct.Kind.UP_SELL.value: "up_sells", RelatedProduct.Kind.CROSS_SELL.value: "cross_sells"}


@cache
def members(model: type[models.Model]) -> dict[str, Kind]:
    """The model's columns that are members, each with how it is read and written."""
    columns = [column for column in model._meta.concrete_fields if column.name not in LEFT_OUT]
    return {column.name: kind_of(column) for column in columns if not column.is_relation}
