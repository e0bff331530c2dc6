"""Writes the map of pods for nginx. `deploy/nginx-pods.conf` is the site that includes it.

`$storefront_pod` is the number of a request's pod, and `storefront_pod_N` the upstream of pod N. nginx reads tables of
plain texts in one step, however long they are; the few regular expressions come after them, one after the other.
"""

from collections.abc import Iterable

from storefront.pods.deployment import Pod
from storefront.pods.routes import CODED_TOKEN, REST_OF_CODE, Routes

_UPSTREAM = """\
upstream storefront_pod_{number} {{
{servers}
    keepalive 32;
    # Below the 5 s after which the service closes an idle connection.
    keepalive_timeout 4s;
}}
"""
# The credential of a call is X-Shop-Access-Token, else the bearer token. A token without a code leads to pod 0, a call
# without a token to the pod of its host. The value of a 421's header is looked up, so that only known pods are asked.
_MAP = """\
map_hash_bucket_size 512;
map_hash_max_size {table_size};
map $http_authorization $storefront_bearer {{
    default "";
    "~*^bearer +(?<storefront_given>[^ ]+)$" $storefront_given;
}}
map $http_x_shop_access_token $storefront_token {{
    default $http_x_shop_access_token;
    "" $storefront_bearer;
}}
map $storefront_token $storefront_code {{
    default none;
    "" "";
    "~^{token}$" $storefront_found;
}}
map $storefront_code $storefront_api_pod {{
    default 0;
    "" $storefront_page_pod;
{codes}
}}
map $request_uri $storefront_segment {{
    default "";
    "~^/(?<storefront_first>[^/?]+)/" $storefront_first;
}}
map $storefront_segment $storefront_secure_pod {{
    default 0;
{segments}
}}
map $host $storefront_page_pod {{
    default 0;
{hosts}
}}
map $request_uri $storefront_pod {{
    default $storefront_page_pod;
    "~^/api(?:[/?]|$)" $storefront_api_pod;
}}
map $upstream_http_x_storefront_pod $storefront_right_pod {{
    default 0;
{numbers}
}}
"""


def render(pods: Iterable[Pod], routes: Routes, *, secure_host: str) -> str:
    """The text of the file that nginx includes in its `http` block."""
    pods = list(pods)
    hosts = {host: str(pod) for host, pod in routes.hosts.items()}
    if secure_host:
        hosts[secure_host] = "$storefront_secure_pod"
    codes = routes.moved_codes | {f"~^{start}{REST_OF_CODE}$": pod for start, pod in routes.code_beginnings.items()}
    text = _MAP.format(
        table_size=max(2048, 1 << (2 * len(hosts)).bit_length()),
        # nginx takes groups by name only.
        token=CODED_TOKEN.replace("([0-9", "(?<storefront_found>[0-9"),
        codes=_rows(codes),
        segments=_rows(routes.segments),
        hosts=_rows(hosts),
        numbers=_rows({str(pod.number): pod.number for pod in pods}),
    )
    return "# Written by storefront podmap, which replaces this file.\n" + "".join(map(_upstream, pods)) + text


def _upstream(pod: Pod) -> str:
    servers = "\n".join(f"    server {address} max_fails=3 fail_timeout=2s;" for address in pod.upstream)
    return _UPSTREAM.format(number=pod.number, servers=servers)


def _rows(table: dict[str, int] | dict[str, str]) -> str:
    return "\n".join(f'    "{key}" {value};' for key, value in table.items())
