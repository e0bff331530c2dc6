"""The catalogue's way to `shops.changes`, which tokens and settings of a shop use too."""

from storefront.shops.changes import changed as changed
from storefront.shops.changes import mark as mark
from storefront.shops.changes import version as version
