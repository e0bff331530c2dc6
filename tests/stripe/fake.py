"""A stateful stand-in for Stripe, as a process of its own: its API, its events, its script for pages, and a bank.

    python -m tests.stripe.fake [PORT]

It prints its address. Tests steer it under /_control. Each call and answer is checked (contract.py); what does not fit
Stripe's description is refused and remembered as a violation.
"""

import asyncio
import copy
import hashlib
import hmac
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import aiohttp
from aiohttp import web

from tests.stripe import contract
from tests.stripe.state import Data, Refused, State

SECRET_KEY, PUBLISHABLE_KEY, WEBHOOK_SECRET = "sk_test_51Fake", "pk_test_51Fake", "whsec_fake"
OTHER_PUBLISHABLE_KEY = "pk_test_51Other"
PAGES = Path(__file__).parent / "pages"
CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "*"}


class Fake:
    """One account, and how it behaves."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.state = State(emit=self.record_event)
        self.answers: dict[str, tuple[str, int, Data]] = {}
        self.calls: list[Data] = []
        self.violations: list[str] = []
        self.events: list[Data] = []
        self.deliveries: list[Data] = []
        self.endpoint: Data | None = None
        # How events are sent: at once, twice, or held until the test delivers them.
        self.news = "at_once"
        # How calls are answered: [{call, how, times}], `how` being silent_before, silent_after, lost, slow or broken.
        self.faults: list[Data] = []
        self.tasks: set[asyncio.Task] = set()

    def record_event(self, kind: str, subject: Data) -> None:
        event = {
            "id": f"evt_{len(self.events):06}{time.time_ns()}",
            "object": "event",
            "api_version": "2026-10-28.endive",
            "created": int(time.time()),
            "data": {"object": copy.deepcopy(subject)},
            "livemode": False,
            "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None},
            "type": kind,
        }
        self.violations += contract.problems_of_object(event) + contract.problems_of_object(subject)
        self.events.append(event)
        if self.news != "held" and self.endpoint:
            for _ in range(2 if self.news == "twice" else 1):
                task = asyncio.get_running_loop().create_task(self.deliver(event))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)

    async def deliver(self, event: Data, *, secret: str = "", age: int = 0) -> int:
        assert self.endpoint
        body = json.dumps(event)
        at = int(time.time()) - age
        signed = hmac.new((secret or self.endpoint["secret"]).encode(), f"{at}.{body}".encode(), hashlib.sha256)
        headers = {"Stripe-Signature": f"t={at},v1={signed.hexdigest()}", "Content-Type": "application/json"}
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session,
                session.post(self.endpoint["url"], data=body, headers=headers) as answer,
            ):
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            status = 0
        self.deliveries.append({"event": event["id"], "type": event["type"], "status": status})
        return status

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One call of the API."""
        if request.method == "OPTIONS":
            return web.Response(headers=CORS)
        fault = self._fault(f"{request.method} {request.path}")
        given = nested(parse_qsl((await request.text()) or request.query_string, keep_blank_values=True))
        if fault == "silent_before":
            await asyncio.Event().wait()
        status, body = self._perform(request, given)
        if fault == "silent_after":
            await asyncio.Event().wait()
        if fault == "lost" and request.transport:
            request.transport.abort()
        if fault == "broken":
            status, body = 500, {"error": {"type": "api_error", "message": "An unknown error occurred"}}
        if fault == "slow":
            return await self._dribble(request, body)
        return web.json_response(body, status=status, headers=CORS | {"Request-Id": f"req_{len(self.calls)}"})

    def _perform(self, request: web.Request, given: Data) -> tuple[int, Data]:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        own = request.headers.get("Idempotency-Key", "") if request.method == "POST" else ""
        print_of = json.dumps([request.path, given], sort_keys=True)
        version = request.headers.get("Stripe-Version", "")
        call = {"method": request.method, "path": request.path, "key": own, "given": given, "version": version}
        self.calls.append(call)
        try:
            if key not in (SECRET_KEY, PUBLISHABLE_KEY, OTHER_PUBLISHABLE_KEY):
                raise Refused(401, "api_key_invalid", f"Invalid API Key provided: {key[:8]}****")
            if own in self.answers:
                seen, status, body = self.answers[own]
                if seen != print_of:
                    message = "Keys for idempotent requests can only be used with the same parameters."
                    raise Refused(400, "idempotency_error", message, kind="idempotency_error")
                return status, body
            status, body = 200, self._dispatch(request, given, key)
        except Refused as refusal:
            status, body = refusal.status, {"error": refusal.error}
        if own and status in (200, 402):
            self.answers[own] = print_of, status, body
        return status, body

    def _dispatch(self, request: web.Request, given: Data, key: str) -> Data:
        call, name = route(request.method, request.path)
        if key != SECRET_KEY:
            self._allow_page(call, name, given, key)
            given = {each: value for each, value in given.items() if each != "client_secret"}
        elif problems := contract.problems_of_call(call, given):
            self.violations += [f"{call}: {each}" for each in problems]
            raise Refused(400, "parameter_unknown", problems[0])
        body = copy.deepcopy(self._actions()[call](name, given))
        self._expand(body, given.get("expand", []))
        self.violations += [f"{call}: {each}" for each in contract.problems_of_answer(call, body)]
        return body

    def _actions(self) -> dict[str, Callable[[str, Data], Data]]:
        """What each call does, with the id in its path and what was given."""
        state, intent = self.state, "/v1/payment_intents/{intent}"
        return {
            "get /v1/account": lambda name, given: state.account(),
            "post /v1/customers": lambda name, given: state.create_customer(given),
            "get /v1/webhook_endpoints": lambda name, given: self._list("webhook_endpoint", given),
            "get /v1/disputes": lambda name, given: self._list("dispute", given),
            "get /v1/refunds": lambda name, given: self._list("refund", given),
            "post /v1/refunds": lambda name, given: state.refund(given),
            "get /v1/payment_intents": lambda name, given: self._list("payment_intent", given),
            "post /v1/payment_intents": lambda name, given: state.create_intent(given),
            "get /v1/payment_intents/search": lambda name, given: self._search(given),
            f"get {intent}": lambda name, given: self.intent(name),
            f"post {intent}/cancel": lambda name, given: state.cancel(self.intent(name), given),
            f"post {intent}/capture": lambda name, given: state.capture(self.intent(name), given),
            f"post {intent}/confirm": lambda name, given: state.confirm(self.intent(name), given),
            "get /v1/payment_methods/{payment_method}": lambda name, given: state.get("payment_method", name),
            "post /v1/payment_methods/{payment_method}/detach": lambda name, given: state.detach(
                state.get("payment_method", name), given
            ),
        }

    def intent(self, name: str) -> Data:
        return self.state.get("payment_intent", name)

    def _allow_page(self, call: str, name: str, given: Data, key: str) -> None:
        """A publishable key sees and confirms one payment, with its client secret, in its own account."""
        if not call.startswith(("get /v1/payment_intents/{", "post /v1/payment_intents/{intent}/confirm")):
            raise Refused(403, "secret_key_required", "This API call cannot be made with a publishable API key.")
        if self.intent(name)["client_secret"] != given.get("client_secret") or key != PUBLISHABLE_KEY:
            raise Refused(404, "resource_missing", f"No such payment_intent: '{name}'")

    def _list(self, kind: str, given: Data) -> Data:
        found = [
            each
            for each in self.state.of(kind)
            if each.get("payment_intent") == given.get("payment_intent") or ("payment_intent" not in given)
        ]
        data = found[: int(given.get("limit", 10))]
        return {"object": "list", "data": data, "has_more": len(found) > len(data), "url": f"/v1/{kind}s"}

    def _search(self, given: Data) -> Data:
        key = re.fullmatch(r"metadata\['payment'\]:'([0-9a-f-]+)'", given["query"])
        assert key, given
        found = [each for each in self.state.of("payment_intent") if each["metadata"].get("payment") == key[1]]
        # Stripe's search has a payment only after a while.
        found = [each for each in found if each["created"] < time.time() - 60]
        return {"object": "search_result", "data": found, "has_more": False, "url": "/v1/payment_intents/search"}

    def _expand(self, body: Data, paths: list[str]) -> None:
        for path in paths:
            holders = body["data"] if path.startswith("data.") else [body]
            for holder in holders:
                name = path.removeprefix("data.")
                if holder.get(name):
                    holder[name] = copy.deepcopy(self.state.objects[holder[name]])

    def _fault(self, call: str) -> str:
        for fault in self.faults:
            if fault["times"] and re.search(fault["call"], call):
                fault["times"] -= 1
                return fault["how"]
        return ""

    async def _dribble(self, request: web.Request, body: Data) -> web.StreamResponse:
        """A byte now and then: never silent for long, and never done."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for byte in json.dumps(body).encode():
            await response.write(bytes([byte]))
            await asyncio.sleep(0.2)
        return response


def nested(pairs: list[tuple[str, str]]) -> Data:
    """`a[b]=1`, `c[0]=2` as `{"a": {"b": "1"}, "c": ["2"]}`."""
    result: Data = {}
    for name, value in pairs:
        first, *rest = re.findall(r"[^\[\]]+", name)
        holder, last = result, first
        for part in rest:
            holder = holder.setdefault(last, {})
            last = part
        holder[last] = value
    return {name: _listed(value) for name, value in result.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if all(name.isdigit() for name in value):
        return list(value.values())
    return {name: _listed(each) for name, each in value.items()}


class Control:
    """What tests tell the fake, by the last part of the path."""

    def __init__(self, fake: Fake) -> None:
        self.fake = fake

    async def reset(self) -> None:
        self.fake.reset()

    async def configure(self, **members: Any) -> None:
        for name, value in members.items():
            setattr(self.fake.state if name in ("is_ready", "account_id", "refund_status") else self.fake, name, value)

    async def deliver(self, type: str = "", backwards: bool = False, times: int = 1, **how: Any) -> list[int]:
        """Send the events of a type, so often each; `secret` and `age` in seconds say how they are signed."""
        events = [each for each in self.fake.events if re.search(type, each["type"])]
        chosen = list(reversed(events)) if backwards else events
        return [await self.fake.deliver(each, **how) for each in chosen for _ in range(times)]

    async def confirm(self, intent: str, number: str = "", method: Data | None = None) -> Data:
        """What the shopper does on the page."""
        method = method or {"type": "card", "card": {"number": number}}
        try:
            return self.fake.state.confirm(self.fake.intent(intent), {"payment_method_data": method})
        except Refused as refusal:
            return refusal.error

    async def act(self, verb: str, intent: str) -> Data:
        """What the bank does: authorise, fail, finish or dispute a payment, finish_refund or fail_refund."""
        return getattr(self.fake.state, verb)(self.fake.intent(intent))

    async def lie(self, **members: Any) -> None:
        """The newest payment has these members from now on, whatever is true."""
        self.fake.state.of("payment_intent")[0].update(members)

    async def close_dispute(self, status: str) -> Data:
        return self.fake.state.close_dispute(self.fake.state.of("dispute")[0], status)

    async def subscribe(self, url: str, events: list[str]) -> Data:
        """What the merchant does in Stripe's dashboard."""
        return self.fake.state.create_endpoint(url, events)

    async def method(self, number: str) -> Data:
        """A saved card of a new customer."""
        customer = self.fake.state.create_customer({})
        return self.fake.state.create_method({"type": "card", "card": {"number": number}}, customer["id"])

    async def age(self, seconds: int) -> None:
        """Everything happened so many seconds earlier, and the keys of a day ago are forgotten."""
        for each in self.fake.state.objects.values():
            each["created"] -= seconds
        if seconds >= 86_400:
            self.fake.answers.clear()

    async def seen(self) -> Data:
        names = ("calls", "violations", "events", "deliveries")
        return {name: getattr(self.fake, name) for name in names} | {"objects": self.fake.state.objects}


def route(method: str, path: str) -> tuple[str, str]:
    """The call, as Stripe's document names it, and the id in its path."""
    for call in sorted(contract.DOCUMENT["calls"], key=lambda each: "{" in each):
        pattern = re.sub(r"\{\w+\}", "([^/]+)", call.split()[1])
        if call.split()[0] == method.lower() and (match := re.fullmatch(pattern, path)):
            return call, "".join(match.groups())
    raise Refused(404, "url_invalid", f"Unrecognized request URL ({method}: {path}).")


def application() -> web.Application:
    fake = Fake()
    control = Control(fake)
    app = web.Application()

    async def steer(request: web.Request) -> web.Response:
        perform = getattr(control, request.match_info["name"])
        return web.json_response(await perform(**json.loads(await request.text() or "{}")))

    async def bank(request: web.Request) -> web.Response:
        """The page where the shopper agrees, or does not, and is sent back."""
        intent = fake.intent(request.match_info["intent"])
        if request.method == "GET":
            return web.Response(text=(PAGES / "bank.html").read_text(), content_type="text/html")
        to = intent["next_action"]["redirect_to_url"]["return_url"]
        agrees = (await request.post())["outcome"] == "agree"
        fake.state.authorise(intent) if agrees else fake.state.fail(intent)
        query = {"payment_intent": intent["id"], "payment_intent_client_secret": intent["client_secret"]}
        query["redirect_status"] = "succeeded" if agrees else "failed"
        raise web.HTTPSeeOther(f"{to}?{urlencode(query)}")

    async def page(request: web.Request) -> web.Response:
        name = {"/endive/stripe.js": "stripe.js", "/element": "element.html", "/element.js": "element.js"}[request.path]
        kind = "text/javascript" if name.endswith(".js") else "text/html"
        return web.Response(text=(PAGES / name).read_text(), content_type=kind)

    app.router.add_route("*", "/v1/{path:.*}", fake.answer)
    app.router.add_post("/_control/{name}", steer)
    app.router.add_route("*", "/bank/{intent}", bank)
    for path in ("/endive/stripe.js", "/element", "/element.js"):
        app.router.add_get(path, page)
    return app


async def serve(port: int) -> None:
    runner = web.AppRunner(application(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, shutdown_timeout=0.1)
    await site.start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
