"""The product's own settings in a data directory of their own, thrown away with the run."""

import atexit
import os
import shutil
import tempfile

_directory = tempfile.mkdtemp(prefix="storefront-test-")
atexit.register(shutil.rmtree, _directory, ignore_errors=True)
os.environ["STOREFRONT_DATA_DIR"] = _directory
os.environ["STOREFRONT_ALLOW_PRIVATE_CALLBACKS"] = "1"
os.environ.pop("SECRET_KEY", None)
if not os.environ.get("TEST_POSTGRES_URL"):
    os.environ.pop("DATABASE_URL", None)
else:
    os.environ["DATABASE_URL"] = os.environ["TEST_POSTGRES_URL"]

from storefront.server.settings import *  # noqa: E402, F403
from storefront.server.settings import DATABASES, STORAGES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, since shared memory would hide what two connections do to each other.
    DATABASES["default"]["TEST"] = {"NAME": os.path.join(_directory, "test.sqlite3")}
else:
    DATABASES["default"]["TEST"] = {"NAME": "test_storefront" + os.environ.get("TEST_DATABASE_SUFFIX", "")}
    # Fifty shoppers race for a pool of twenty, on machines that do other things meanwhile: they may wait for it.
    pool = {"min_size": 1, "max_size": 20, "timeout": 60}
    DATABASES["default"] |= {"CONN_MAX_AGE": 0, "OPTIONS": DATABASES["default"]["OPTIONS"] | {"pool": pool}}

# Argon2 takes its time on purpose; the tests that are about passwords put it back.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
