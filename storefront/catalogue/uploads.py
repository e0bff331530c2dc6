"""Migration 0001 refers to this function here, and landed migrations are not edited."""

from storefront.kit.storage import private_files as private_files
