"""Settings, all of them from the environment; the README has the table."""

from storefront.server import environment, logs
from storefront.server.admin_theme import UNFOLD as UNFOLD

DATA_DIR = environment.data_dir()
SECRET_KEY, *SECRET_KEY_FALLBACKS = environment.secret_keys(DATA_DIR)
DEBUG = environment.boolean("STOREFRONT_DEBUG")
ALLOW_PRIVATE_CALLBACKS = environment.boolean("STOREFRONT_ALLOW_PRIVATE_CALLBACKS")
DATABASES = {"default": environment.database(DATA_DIR)}
# How long events, their deliveries and the tries of these are kept, in days.
EVENT_DAYS = environment.number("STOREFRONT_EVENT_DAYS", 90, smallest=1)
# Rate limits are counted here where it is set, so that several processes count together.
REDIS_URL = environment.redis_url()
# How much of the catalogue each web process answers from memory (server/edge.py); 0 turns that off.
EDGE_CACHE_BYTES = environment.number("STOREFRONT_EDGE_CACHE_BYTES", 64 * 1024 * 1024)

logs.configure_structlog()
LOGGING = logs.logging_config(environment.log_level())

# A host is a shop or a 404 page (decisions: Which shop a page means), and the API never looks at it.
ALLOWED_HOSTS = ["*"]
HTTPS = environment.boolean("STOREFRONT_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_NAME = "storefront_session"
CSRF_COOKIE_NAME = "storefront_csrf"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
CSRF_FAILURE_VIEW = "storefront.website.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"

ROOT_URLCONF = "storefront.server.urls"
WSGI_APPLICATION = "storefront.server.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "shops.User"
# Only staff sign in through Django; shoppers are customers.
LOGIN_URL, LOGIN_REDIRECT_URL = "admin:login", "admin:index"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = ["storefront.kit.formats"]
APPEND_SLASH = False

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "storefront.shops.admin_app.MerchantAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_tasks_db",
    "easy_thumbnails",
    "ninja",
    "storefront.shops",
    "storefront.webhooks",
    "storefront.apps",
    "storefront.catalogue",
    "storefront.customers",
    "storefront.pricing",
    "storefront.carts",
    "storefront.orders",
    "storefront.checkout",
    "storefront.website",
    "storefront.server",
]

MIDDLEWARE = [
    "storefront.server.requestlog.RequestLog",
    "storefront.server.middleware.RequestFrame",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "storefront.server.middleware.ShopOfPage",
    "storefront.website.security.PageSecurity",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "UserAttributeSimilarityValidator")
]

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
MEDIA_URL = "/media/"
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # Uploads that only the shop may read: never under MEDIA_ROOT, which is served.
    "private": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "private", "file_permissions_mode": 0o600},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_MAX_AGE = 3600
THUMBNAIL_BASEDIR = "thumbnails"
THUMBNAIL_EXTENSION = THUMBNAIL_TRANSPARENCY_EXTENSION = "webp"

# Bodies of the API and of forms; uploads go to disk and are bounded where they are read.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# A product with its variants is one form: fifty of them on a page, a dozen fields each, and the rest.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
FILE_UPLOAD_HANDLERS = [
    "storefront.kit.uploads.BoundedUploads",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# EMAIL_BACKEND, EMAIL_HOST and so on, from EMAIL_URL.
globals().update(environment.email())
DEFAULT_FROM_EMAIL = SERVER_EMAIL = environment.text("STOREFRONT_EMAIL_FROM", "storefront@localhost")

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

TEST_RUNNER = "django.test.runner.DiscoverRunner"
