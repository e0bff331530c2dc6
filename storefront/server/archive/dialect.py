"""What differs between the databases that are copied from."""

from storefront.kit.dialect import IS_POSTGRESQL

if IS_POSTGRESQL:
    from storefront.server.archive import postgresql as dialect
else:
    from storefront.server.archive import sqlite as dialect  # type: ignore[no-redef]

__all__ = ["dialect"]
