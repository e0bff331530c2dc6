"""Writes the map of pods for Caddy, as snippets and named routes: a Caddyfile imports the file at its top, and
`storefront_pods` in each site (docs/pods.md).

A 421 to a GET is replaced by the right pod's answer, once. Caddy does not keep the body of other requests, so their
client gets the 421. Caddy compares hosts as they were sent: one in capitals leads to pod 0, whose 421 leads further.
"""

from collections.abc import Iterable

from storefront.pods.deployment import Pod
from storefront.pods.routes import CODED_TOKEN, REST_OF_CODE, Routes

_ROUTE = """\
&(storefront_pod_{number}) {{
	reverse_proxy {upstream} {{
		import storefront_proxy
	}}
}}
"""
_PROXY = """\
(storefront_proxy) {
	lb_try_duration 5s
	header_up X-Request-Id {http.request.uuid}
	header_down -X-Storefront-Pod
	transport http {
		# Below the 5 s after which the service closes an idle connection.
		keepalive 4s
		response_header_timeout 40s
	}
}
"""
_FIRST = """\
	@storefront_pod_{number} vars {{storefront_pod}} {number}
	handle @storefront_pod_{number} {{
		reverse_proxy {upstream} {{
			import storefront_proxy
			@storefront_elsewhere status 421
			handle_response @storefront_elsewhere {{
				@storefront_repeatable method GET HEAD
				handle @storefront_repeatable {{
					import storefront_right_pod
				}}
				handle {{
					copy_response
				}}
			}}
		}}
	}}
"""
_RIGHT = """\
	@storefront_right_{number} vars {{rp.header.X-Storefront-Pod}} {number}
	handle @storefront_right_{number} {{
		invoke storefront_pod_{number}
	}}
"""
# Caddy replaces placeholders in the outputs for plain texts and defaults, not in those for expressions.
_MAP = """\
	map {{header.Authorization}} {{storefront_bearer}} {{
		"~(?i)^bearer +([^ ]+)$" "${{1}}"
		default ""
	}}
	map {{header.X-Shop-Access-Token}} {{storefront_token}} {{
		"~^(.+)$" "${{1}}"
		default "{{storefront_bearer}}"
	}}
	map {{storefront_token}} {{storefront_code}} {{
		"~^{token}$" "${{1}}"
		"~." none
		default ""
	}}
	map {{path}} {{storefront_segment}} {{
		"~^/([^/]+)/" "${{1}}"
		default ""
	}}
	map {{storefront_segment}} {{storefront_secure_pod}} {{
{segments}
		default 0
	}}
	map {{host}} {{storefront_page_pod}} {{
{hosts}
		default 0
	}}
	map {{storefront_code}} {{storefront_api_pod}} {{
{codes}
		"~." 0
		default "{{storefront_page_pod}}"
	}}
	map {{path}} {{storefront_kind}} {{
		"~^/api(/|$)" api
		default page
	}}
	map {{storefront_kind}} {{storefront_pod}} {{
		api "{{storefront_api_pod}}"
		default "{{storefront_page_pod}}"
	}}
"""


def render(pods: Iterable[Pod], routes: Routes, *, secure_host: str) -> str:
    """The text of the file that a Caddyfile imports."""
    pods = list(pods)
    hosts: dict[str, object] = dict(routes.hosts)
    if secure_host:
        hosts[secure_host] = '"{storefront_secure_pod}"'
    codes = routes.moved_codes | {f"~^{start}{REST_OF_CODE}$": pod for start, pod in routes.code_beginnings.items()}
    text = _MAP.format(token=CODED_TOKEN, segments=_rows(routes.segments), hosts=_rows(hosts), codes=_rows(codes))
    return "".join(
        [
            "# Written by storefront podmap, which replaces this file.\n",
            _PROXY,
            *(_each(_ROUTE, pod) for pod in pods),
            "(storefront_right_pod) {\n",
            *(_each(_RIGHT, pod) for pod in pods),
            "}\n(storefront_pods) {\n",
            text,
            *(_each(_FIRST, pod) for pod in pods),
            "}\n",
        ]
    )


def _each(template: str, pod: Pod) -> str:
    return template.format(number=pod.number, upstream=" ".join(pod.upstream))


def _rows(table: dict[str, int] | dict[str, object]) -> str:
    return "\n".join(f'\t\t"{key}" {value}' for key, value in table.items())
