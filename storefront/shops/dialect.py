"""The module with what this room needs of its database (`kit/dialect.py`)."""

from storefront.kit.dialect import IS_POSTGRESQL

if IS_POSTGRESQL:
    from storefront.shops import postgresql as dialect
else:
    from storefront.shops import sqlite as dialect  # type: ignore[no-redef]

__all__ = ["dialect"]
