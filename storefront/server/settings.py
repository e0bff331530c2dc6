"""Django's settings. Values come from the environment; docs/configuration.md lists them."""

from pathlib import Path

from storefront.kit.queues import FILES, MAILS
from storefront.server import environment, logs, replica_urls
from storefront.server.admin_theme import UNFOLD as UNFOLD
from storefront.shops.languages import TEXTS

DATA_DIR = environment.data_dir()
SECRET_KEY, *SECRET_KEY_FALLBACKS = environment.secret_keys(DATA_DIR)
DEBUG = environment.boolean("STOREFRONT_DEBUG")
ALLOW_PRIVATE_CALLBACKS = environment.boolean("STOREFRONT_ALLOW_PRIVATE_CALLBACKS")
DATABASES = {"default": environment.database(DATA_DIR)}
# The number of this database with its processes, where several serve one deployment's shops (storefront/pods/).
POD = environment.pod(DATABASES["default"])
# The address of pod 0's admin, where the other pods' accounts and apps are written (storefront/pods/registry.py).
REGISTRY_URL = environment.registry_url()
# Behind PgBouncer: the database itself, for what must not be pooled (kit/direct.py).
DATABASE_DIRECT = environment.direct_database()
# Servers that take part in reading (kit/replicas/), by alias; whether a PgBouncer is in front of them.
REPLICAS = replica_urls.replicas(DATABASES["default"])
REPLICAS_POOLED = DATABASE_DIRECT is not None
DATABASES |= REPLICAS
# Seconds that a statement of a web process may take on PostgreSQL, and may wait for a lock; 0: no limit.
STATEMENT_SECONDS = environment.number("STOREFRONT_STATEMENT_SECONDS", 30)
LOCK_SECONDS = environment.number("STOREFRONT_LOCK_SECONDS", 10)
# Seconds that a program waits at its start for a database that is away.
DATABASE_WAIT_SECONDS = environment.number("STOREFRONT_DATABASE_WAIT_SECONDS", 60)
# Bytes of free disk below which `/readyz` and the figures warn.
DISK_LOW_BYTES = environment.number("STOREFRONT_DISK_LOW_BYTES", 1024**3)
# The file that is written after each backup, whose age the figures have; None: unknown.
BACKUP_MARKER = environment.text("STOREFRONT_BACKUP_MARKER") or None
# Days for which events, their deliveries and delivery attempts are kept.
EVENT_DAYS = environment.number("STOREFRONT_EVENT_DAYS", 90, smallest=1)
# Minutes after which a checkout without an order is reported as abandoned.
ABANDONED_MINUTES = environment.number("STOREFRONT_ABANDONED_MINUTES", 60, smallest=1)
# Minutes for which a shopper can pay what was frozen at the press of pay, while its stock is held.
PAYMENT_MINUTES = environment.number("STOREFRONT_PAYMENT_MINUTES", 30, smallest=1)
# The schema of each topic's data, for samples.
EVENT_SCHEMAS = "storefront.server.api.webhooks.data_schema"
# Which staff need a second factor besides the password.
STAFF_SECOND_FACTOR = environment.one_of("STOREFRONT_STAFF_SECOND_FACTOR", "owners", "owners", "all", "none")
# Days for which an entry of the audit log is kept. An existing entry keeps the number from when it was written.
AUDIT_DAYS = environment.number("STOREFRONT_AUDIT_DAYS", 730, smallest=1)
# If set, rate limits are counted in Redis, so that several processes count together.
REDIS_URL = environment.redis_url()
# How often visitors may do what is costly to others (customers/limits.py). Names that end in `_each` are not counted by
# the visitor's address. docs/deployment.md says what each of them counts.
LIMIT = "STOREFRONT_LIMIT_"
LIMITS = {
    name: environment.limits(LIMIT + name.upper(), default)
    for name, default in {
        "baskets": "600/hour",
        "accounts": "60/hour",
        "accounts_each": "5/hour",
        "mails_each": "20/hour, 60/day",
        "orders": "10/minute, 120/hour",
        "orders_each": "10/hour",
        "payments": "120/hour",
        "payments_each": "10/hour",
        "order_pages": "60/hour",
        "order_pages_each": "10/hour",
        "arrivals": "1200/hour",
        "discount_codes": "30/hour",
        "discount_codes_token": "600/hour",
        "gift_cards": "20/hour",
        "gift_cards_token": "600/hour",
        "vat_checks": "30/hour",
        "messages": "5/hour",
        "messages_each": "60/hour",
        "stock_alerts": "20/hour",
        "domain_checks": "4/minute, 60/hour",
    }.items()
}
# How many orders may wait for payment: of one network address or customer, and of one email address; 0: no limit.
MAX_UNPAID = environment.number(LIMIT + "UNPAID", 20)
MAX_UNPAID_PER_EMAIL = environment.number(LIMIT + "UNPAID_EACH", 10)
# What each shop can have or do at most; 0: no quota (shops/quotas.py).
QUOTA = "STOREFRONT_QUOTA_"
QUOTAS = {
    name: environment.number(QUOTA + name.upper(), default)
    for name, default in {
        "files": 100 * 1024**3,
        "products": 1_000_000,
        "orders": 50_000,
        "mails": 20_000,
        "tasks": 50,
    }.items()
}
# Bytes of responses that each web process caches (server/edge/edge.py); 0 turns the cache off.
EDGE_CACHE_BYTES = environment.number("STOREFRONT_EDGE_CACHE_BYTES", 64 * 1024 * 1024)

logs.configure_structlog()
LOGGING = logs.logging_config(environment.log_level())

# A host is a shop or a 404 page (R-CALL-12), and the API ignores it.
ALLOWED_HOSTS = ["*"]
HTTPS = environment.boolean("STOREFRONT_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_NAME = "storefront_session"
CSRF_COOKIE_NAME = "storefront_csrf"
# Proxies whose headers give the visitor's address and scheme (kit/callers.py).
TRUSTED_PROXIES = environment.trusted_proxies()
HSTS_SECONDS = environment.number("STOREFRONT_HSTS_SECONDS", 365 * 24 * 3600)
# Stripe's API and the script of its payment form; a stand-in's in tests. Seconds after which a call is given up.
STRIPE_API = environment.web_address("STOREFRONT_STRIPE_API", "https://api.stripe.com")
STRIPE_SCRIPT = environment.web_address("STOREFRONT_STRIPE_SCRIPT", "https://js.stripe.com/endive/stripe.js")
STRIPE_SECONDS = environment.number("STOREFRONT_STRIPE_SECONDS", 10, smallest=1)
# The EU's register of VAT IDs, or a stand-in, and the seconds after which a call is given up.
VIES_API = environment.web_address("STOREFRONT_VIES_API", "https://ec.europa.eu/taxation_customs/vies/rest-api")
VIES_SECONDS = environment.number("STOREFRONT_VIES_SECONDS", 6, smallest=1)
# Where Prometheus reads the figures of this machine's processes (server/metrics/), as host and port; None: nowhere.
METRICS = environment.metrics_address()
# Whether traces are exported (server/tracing.py), by OpenTelemetry's own variables.
TRACES = environment.traces()
SECURITY_CONTACT = environment.security_contact()
SESSION_ENGINE = "storefront.server.sessions"
# Hosts of the admin, and of all shops' checkout, account and order pages. Without them, one host serves everything.
ADMIN_HOST, SECURE_HOST = environment.separate_hosts()
CSRF_FAILURE_VIEW = "storefront.website.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"

ROOT_URLCONF = "storefront.server.urls"
# The URL patterns of each place of the deployment (shops/places.py).
PLACE_URLCONFS = {
    "shop": "storefront.server.urls_shop",
    "secure": "storefront.server.urls_secure",
    "admin": "storefront.server.urls_admin",
    "files": "storefront.server.urls_files",
}
WSGI_APPLICATION = "storefront.server.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "shops.User"
# Only staff sign in through Django; shoppers are customers.
LOGIN_URL, LOGIN_REDIRECT_URL = "admin:login", "admin:index"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
# Texts are English until a page, a mail or a paper activates its language (server/page_language.py).
USE_I18N = True
LANGUAGES = [(code, code) for code in TEXTS]
LOCALE_PATHS = [Path(__file__).parents[1] / room for room in ("locale", "staff/locale")]
FORMAT_MODULE_PATH = ["storefront.kit.formats"]
APPEND_SLASH = False

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "storefront.staff.admin_app.MerchantAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_tasks_db",
    "easy_thumbnails",
    "ninja",
    "storefront.pods",
    "storefront.shops",
    "storefront.content",
    "storefront.sync",
    "storefront.installations",
    "storefront.webhooks",
    "storefront.apps",
    "storefront.catalogue",
    "storefront.pictures",
    "storefront.listing",
    "storefront.product_files",
    "storefront.customers",
    "storefront.stock_alerts",
    "storefront.gift_cards",
    "storefront.pricing",
    "storefront.carts",
    "storefront.orders",
    "storefront.payments",
    "storefront.documents",
    "storefront.exports",
    "storefront.deployment",
    "storefront.checkout",
    "storefront.privacy",
    "storefront.website",
    "storefront.server",
]

MIDDLEWARE = [
    "storefront.server.health.Health",
    "storefront.server.requestlog.RequestLog",
    "storefront.server.security_headers.SecurityHeaders",
    "storefront.server.middleware.VisitorAddress",
    "storefront.server.middleware.RequestFrame",
    "storefront.server.middleware.ValidHost",
    "storefront.server.origins.Places",
    "storefront.server.page_language.PageLanguage",
    "storefront.server.origins.PlaceCookies",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "storefront.server.compression.PageCompression",
    "storefront.server.sessions.PlaceSessions",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "storefront.staff.admin_language.AdminLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "storefront.website.security.PageSecurity",
    "storefront.staff.admin_security.AdminSecurity",
    "storefront.server.origins.SameSiteOnly",
    "storefront.server.origins.FurtherDomains",
    "storefront.website.closed.ClosedShop",
    "storefront.website.door.Door",
    "storefront.website.permalinks.FilledBasket",
]

if REPLICAS:
    MIDDLEWARE.append("storefront.staff.replica_positions.StaffPositions")
if TRACES:
    MIDDLEWARE.insert(2, "storefront.server.tracing.TracedRequests")

FORM_RENDERER = "storefront.server.form_inputs.FormRenderer"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # The operator's templates come first, then those of the admin's theme that we replace.
        "DIRS": [*environment.folders("STOREFRONT_TEMPLATES"), Path(__file__).parents[1] / "shops" / "theme"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "storefront.shops.templatetags.places"],
        },
    }
]

PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
# Seconds for which emailed links to choose a new admin password are valid.
PASSWORD_RESET_TIMEOUT = 3600
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "UserAttributeSimilarityValidator")
]

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
MEDIA_URL = "/media/"
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    **environment.file_storages(DATA_DIR),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# By default, Django makes uploaded files readable for every user of the system.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
WHITENOISE_MAX_AGE = 3600
THUMBNAIL_BASEDIR = "thumbnails"
THUMBNAIL_EXTENSION = THUMBNAIL_TRANSPARENCY_EXTENSION = "webp"

# Seconds in which a request body must arrive (server/gate/request_body.py).
BODY_SECONDS = environment.number("STOREFRONT_BODY_SECONDS", 10, smallest=1)
# Bytes of a file that staff upload in the admin.
UPLOAD_BYTES = environment.number("STOREFRONT_UPLOAD_BYTES", 200 * 1024 * 1024, smallest=1024 * 1024)
# Imports and exports: how many a worker runs at once, each in a process; and the bytes and minutes of each.
FILE_PROCESSES = environment.number("STOREFRONT_FILE_PROCESSES", 3, smallest=2)
FILE_BYTES = environment.number("STOREFRONT_FILE_BYTES", 1024 * 1024 * 1024, smallest=256 * 1024 * 1024)
FILE_MINUTES = environment.number("STOREFRONT_FILE_MINUTES", 120, smallest=1)
# Bytes of a body of the API or a form. Uploads go to disk and have their own limit (kit/files/uploads.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# A product and its variants are one form: fifty variants on a page, with a dozen fields each, and the rest.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
FILE_UPLOAD_HANDLERS = [
    "storefront.kit.files.uploads.BoundedUploads",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# EMAIL_BACKEND, EMAIL_HOST and so on, from EMAIL_URL.
globals().update(environment.email())
# Seconds that a mail server may take for each step; a silent one would stop the worker's other tasks.
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = SERVER_EMAIL = environment.text("STOREFRONT_EMAIL_FROM", "storefront@localhost")
# What SPF records must contain to allow the mail server, and the selector of its DKIM key (staff/mail_records.py).
EMAIL_SPF, EMAIL_DKIM = environment.text("STOREFRONT_EMAIL_SPF", ""), environment.text("STOREFRONT_EMAIL_DKIM", "")

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default", MAILS, FILES]}}

TEST_RUNNER = "django.test.runner.DiscoverRunner"
