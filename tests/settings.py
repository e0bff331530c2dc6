"""The product's settings with a temporary data directory, which is deleted after the run."""

import atexit
import os
import shutil
import tempfile

_directory = tempfile.mkdtemp(prefix="storefront-test-")
atexit.register(shutil.rmtree, _directory, ignore_errors=True)
os.environ["STOREFRONT_DATA_DIR"] = _directory
os.environ["STOREFRONT_ALLOW_PRIVATE_CALLBACKS"] = "1"
os.environ.pop("SECRET_KEY", None)
# Tests of second factors turn them on.
os.environ["STOREFRONT_STAFF_SECOND_FACTOR"] = "none"
if not os.environ.get("TEST_POSTGRES_URL"):
    os.environ.pop("DATABASE_URL", None)
else:
    os.environ["DATABASE_URL"] = os.environ["TEST_POSTGRES_URL"]

from storefront.server.settings import *  # noqa: E402, F403
from storefront.server.settings import DATABASES, MIDDLEWARE, STORAGES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, since an in-memory database has no locking between connections as a file has.
    DATABASES["default"]["TEST"] = {"NAME": os.path.join(_directory, "test.sqlite3")}
    # Rows without an ORDER BY come last first, so that nothing takes their order for granted.
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA reverse_unordered_selects = ON;"
else:
    DATABASES["default"]["TEST"] = {"NAME": "test_storefront" + os.environ.get("TEST_DATABASE_SUFFIX", "")}
    # Fifty threads share a pool of twenty connections, on busy machines: they may wait for one.
    pool = {"min_size": 1, "max_size": 20, "timeout": 60}
    DATABASES["default"] |= {"CONN_MAX_AGE": 0, "OPTIONS": DATABASES["default"]["OPTIONS"] | {"pool": pool}}

# Inside of what compresses a page.
_at = MIDDLEWARE.index("storefront.server.compression.PageCompression") + 1
MIDDLEWARE = [*MIDDLEWARE[:_at], "tests.referrer.FormsCanBeSent", *MIDDLEWARE[_at:]]

# Argon2 is slow on purpose. Tests of passwords set it again.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
