"""A migration can change tables with triggers, which SQLite does by remaking the table."""

import subprocess
import sys

import pytest

from tests.server.programs import clean_environment
from tests.upgrades.databases import new_database

pytestmark = [pytest.mark.any_database, pytest.mark.slow]


# It runs all migrations, on a machine that may do other things meanwhile.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("state", ["filled", "fresh"])
def test_totals_and_search_are_right_after_a_migration_of_the_product_table(state, tmp_path):
    with new_database(tmp_path) as database:
        given = {"DJANGO_SETTINGS_MODULE": "storefront.server.settings", "SECRET_KEY": "r" * 50, **database.environment}
        result = subprocess.run(
            [sys.executable, "-m", "tests.upgrades.remaking", state, str(tmp_path)],
            env=clean_environment(**given),
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert result.returncode == 0, result.stderr
