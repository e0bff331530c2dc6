"""The metrics that a process counts itself, for Prometheus (`server/metrics/` serves those of all processes together).

Every label has few values: a URL pattern, never a path; a refusal's code, never its text. SHOP_SECONDS alone has shops,
of which `server/metrics/shop_load.py` publishes the busiest. The edge, whose
answers take microseconds, counts in integers of its own, which `server/metrics/publishing.py` copies here.
"""

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Histogram(
    "storefront_request_seconds",
    "Seconds that requests took in Django, by method, URL pattern and status. The edge's answers are not among them.",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
SHOP_SECONDS = Counter(
    "storefront_shop_request_seconds",
    "Seconds that requests took in Django, by shop. Not published itself.",
    ["shop"],
)
THREAD_WAITS = Histogram(
    "storefront_thread_wait_seconds",
    "Seconds that requests waited for a thread of their web process, by what the threads are for.",
    ["threads"],
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10),
)
EDGE_ANSWERS = Counter(
    "storefront_edge_requests", "Catalogue reads that came from memory (hit) or from Django (miss).", ["result"]
)
REJECTIONS = Counter("storefront_rejections", "Requests that got no thread, by the code of the response.", ["code"])
REFUSALS = Counter("storefront_refusals", "API calls and order forms that were refused, by code.", ["code"])
ORDERS = Counter("storefront_orders_placed", "Orders placed.")
DELIVERIES_ENDED = Counter("storefront_deliveries_ended", "Webhook deliveries that ended, by their state.", ["state"])
DELIVERIES_RETRIED = Counter("storefront_deliveries_retried", "Webhook attempts that failed and are repeated later.")
TASKS_ENDED = Counter("storefront_tasks_ended", "Tasks that a worker ran, by task and outcome.", ["task", "outcome"])
WEB_PROCESSES = Gauge("storefront_web_processes", "Web processes that run.", multiprocess_mode="livesum")
LISTENERS = Gauge(
    "storefront_listeners_connected",
    "Web processes that learn of other processes' changes at once. Fewer than storefront_web_processes: some answer "
    "from memory what may be five seconds old.",
    multiprocess_mode="livesum",
)
HEARD_AT = Gauge(
    "storefront_listener_heard_timestamp_seconds",
    "When the listener that has been silent longest last heard something.",
    # Without a label, processes that have no listener would count too.
    ["process"],
    multiprocess_mode="livemin",
)
REPLICA_READS = Counter("storefront_replica_reads", "Reads that a replica answered, by replica.", ["replica"])
PRIMARY_READS = Counter(
    "storefront_replica_fallbacks",
    "Reads that the primary answered instead of a replica: because all are left_out; because the shop's last change is "
    "not announced yet (written), or no replica has replayed it (behind); or because a replica failed.",
    ["reason"],
)
REPLICAS_WELL = Gauge(
    "storefront_replicas_well",
    "Web processes that read from the replica. Fewer than storefront_web_processes: it is late or away.",
    ["replica"],
    multiprocess_mode="livesum",
)
REPLICA_LAG = Gauge(
    "storefront_replica_lag_seconds",
    "How late the replica is, as far as the web process knows that finds it latest.",
    ["replica"],
    multiprocess_mode="livemax",
)
