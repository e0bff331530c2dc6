"""The modules for SQLite and for PostgreSQL have one interface, and nothing else asks for the database."""

import re
from importlib import import_module
from inspect import isclass, isfunction, signature
from pathlib import Path
from types import ModuleType

import pytest

import storefront

ROOT = Path(storefront.__file__).parent
PAIRS = sorted(".".join(file.relative_to(ROOT.parent).parent.parts) for file in ROOT.rglob("sqlite.py"))
# Values that several modules import from one place.
IMPORTED = {"CHANGED", "KEPT", "TABLE", "THERE", "LOG", "STORED_FILE", "STORED_JSON"}
# Names that only one of a pair has, for what only one database needs.
OWN = {
    "storefront.catalogue": {"FILL_INDEX", "SHOP_BITS", "EXTENSIONS", "later_texts"},
    "storefront.kit": {"MIGRATION_LOCK"},
    "storefront.kit.bulk_insert": {"CACHE_KIB", "LOG_PAGES", "TEMP_STORE_MEMORY"},
    "storefront.listing": {"PLANNED_IDS", "SHOP_BITS"},
    "storefront.product_files": {"MAX_PRODUCTS", "TOO_LARGE"},
    "storefront.server.edge": {"POLL_SECONDS", "BEAT_SECONDS", "BEAT_DEADLINE_SECONDS", "NAME"},
}


def interface(module: ModuleType) -> dict[str, list[str]]:
    """The module's own functions with their parameters, and its values."""
    functions = {
        name: list(signature(each).parameters)
        for name, each in vars(module).items()
        if isfunction(each) and each.__module__ == module.__name__ and name[0] != "_"
    }
    return functions | {name: [] for name in vars(module) if name.isupper() and name[0] != "_"}


def methods(of: type) -> dict[str, list[str]]:
    return {
        name: list(signature(each).parameters)
        for name, each in vars(of).items()
        if isfunction(each) and (name == "__init__" or name[0] != "_")
    }


@pytest.mark.parametrize("package", PAIRS)
def test_both_modules_have_the_same_names_and_parameters(package):
    sqlite, postgresql = (import_module(f"{package}.{name}") for name in ("sqlite", "postgresql"))
    own = OWN.get(package, set()) | IMPORTED
    ours, theirs = interface(sqlite), interface(postgresql)
    assert {name: ours[name] for name in ours if name not in own} == {
        name: theirs[name] for name in theirs if name not in own
    }
    for name, each in vars(sqlite).items():
        if isclass(each) and each.__module__ == sqlite.__name__:
            assert methods(each).items() <= methods(getattr(postgresql, name)).items()


def test_the_pairs_are_those_that_are_known():
    assert len(PAIRS) >= 8
    assert all((ROOT.parent / package.replace(".", "/") / "postgresql.py").is_file() for package in PAIRS)


def test_nothing_else_asks_for_the_database():
    asking = {
        str(file.relative_to(ROOT))
        for file in ROOT.rglob("*.py")
        if "migration" not in str(file) and re.search(r"(connection|database)\.vendor\b", file.read_text())
    }
    assert asking == {"kit/dialect.py"}
