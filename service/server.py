"""Web server of the service: routes, limits, and the guards against other sites.

Texts are neither logged nor stored. The app starts in the same process with the first visitor of a link.
"""

import ipaddress
import json
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import module_from_spec, spec_from_file_location
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

import assets
from service.annotated import Annotated
from service.checker import KeepingCorrector, TooSlowError
from service.languagetool import LANGUAGE, LONGEST, CheckRequest, Link, RequestError, answer, information
from service.matches import Match

PATH = "/v2"
# Origins of programs, which no web page can have. Sandboxed frames of web pages have "null".
PROGRAMS = ("app", "chrome-extension", "moz-extension", "safari-web-extension", "vscode-webview")
GLANCE = 0.1  # seconds between two looks whether a client is still there
MOST_CLIENTS = 1_000  # whose requests are counted
_NOT_STORED = {"Cache-Control": "no-store"}
MOST_BYTES = 9 * LONGEST + 4_096  # of a body; each byte of a syllable takes three characters in a form


@dataclass(frozen=True)
class Limits:
    """Limits of the service.

    ``patience`` is how long one text may take, in seconds.
    """

    requests_a_minute: int = 600  # of one address
    patience: float = 30.0
    waiting: int = 32  # requests that wait for their turn


@dataclass(frozen=True)
class Guard:
    """The names and sites that may ask, besides this machine's own.

    An attacker's page can have its own name lead to this machine (DNS rebinding), so a request is answered
    only under a known name, or under a number, which is no name. Another site could still learn by the time
    of an answer which sentences were checked before, so requests of web pages are refused unless their
    site is allowed.

    Example:
        >>> Guard().knows_host("127.0.0.1:8081"), Guard().knows_host("evil.example:8081")
        (True, False)
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    def knows_host(self, host: str) -> bool:
        """Whether a request with this header ``Host`` may be answered."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in {"localhost", *self.hosts} or address_of(name) is not None

    def knows_origin(self, origin: str) -> bool:
        """Whether a page with this header ``Origin`` may ask, and read the answer."""
        try:
            site = urlsplit(origin)
        except ValueError:
            return False
        is_here = site.scheme in ("http", "https") and site.hostname in ("localhost", "127.0.0.1", "::1")
        return site.scheme in PROGRAMS or is_here or origin in self.origins

    def refusal(self, headers: Headers, is_service: bool) -> str | None:
        """The reason for which a request is refused; None for one that is answered."""
        if not self.knows_host(headers.get("host", "")):
            return "this name is not allowed: --allow-host"
        if not is_service:
            return None
        if "origin" in headers:
            is_known = self.knows_origin(headers["origin"])
        else:  # an image of another site, say
            is_known = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return None if is_known else "this site is not allowed: --allow-origin"


def address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host's name spells in numbers; None of any other name.

    Example:
        >>> str(address_of("127.0.0.1")), address_of("localhost")
        ('127.0.0.1', None)
    """
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


class Guarded:
    """ASGI middleware that refuses the requests that its ``Guard`` refuses."""

    def __init__(self, app: ASGIApp, guard: Guard):
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        is_service = scope["path"].startswith(f"{PATH}/")
        reason = self._guard.refusal(Headers(scope=scope), is_service)
        if reason is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse(f"Error: {reason}\n", 403)(scope, receive, send)


class Rate:
    """Counts the requests of each address in the last minute.

    Example:
        >>> rate = Rate(requests_a_minute=1)
        >>> rate.admits("127.0.0.1"), rate.admits("127.0.0.1")
        (True, False)
    """

    def __init__(self, requests_a_minute: int):
        self._most = requests_a_minute
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def admits(self, address: str) -> bool:
        """Whether the address may ask once more; counts the request if it may."""
        now, times = time.monotonic(), self._times.setdefault(address, deque(maxlen=self._most))
        self._times.move_to_end(address)
        while len(self._times) > MOST_CLIENTS:
            self._times.popitem(last=False)
        if len(times) == self._most and times[0] >= now - 60:
            return False
        times.append(now)  # the first one falls out of a full queue
        return True


@dataclass
class Service:
    """The routes of LanguageTool's API over one corrector, which is loaded when it is first needed."""

    load: Callable[[], KeepingCorrector]
    link: Link
    limits: Limits = field(default_factory=Limits)
    _waiting: int = 0

    def routes(self) -> Mount:
        """The routes of the service. Pages that the guard lets through may read the answers."""
        answers = {
            "info": information(),
            "languages": [LANGUAGE | {"code": code} for code in ("ko", "ko-KR")],
            "maxtextlength": LONGEST,
            "healthcheck": "OK",
        }
        routes = [
            Route("/check", self._check, methods=["GET", "POST"]),
            *(Route(f"/{name}", _constant(value)) for name, value in answers.items()),
        ]
        readable = Middleware(
            CORSMiddleware,
            allow_origin_regex=".*",
            allow_methods=("GET", "POST"),
            allow_headers=("*",),
            allow_private_network=True,
        )
        return Mount(PATH, routes=routes, middleware=[readable])

    async def prepare(self) -> None:
        """Load the corrector and everything that its first answers would wait for."""
        await to_thread.run_sync(self._prepare, limiter=self._turn)

    def _prepare(self) -> None:
        self._corrector.warm_up()
        self._corrector.warm_up_doubts()

    @cached_property
    def _corrector(self) -> KeepingCorrector:
        return self.load()

    @cached_property
    def _turn(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(1)

    @cached_property
    def _rate(self) -> Rate:
        return Rate(self.limits.requests_a_minute)

    async def _check(self, request: Request) -> Response:
        if request.method == "HEAD":  # a client sees whether the service runs
            return Response()
        try:
            if not self._rate.admits(request.client.host if request.client else ""):
                raise RequestError(f"{self.limits.requests_a_minute} requests a minute are allowed", 429)
            body = request.scope["query_string"] if request.method == "GET" else await _body(request)
            asked = CheckRequest.of(body)
            found = await self._matches(asked.document, asked.is_picky, request)
        except RequestError as error:
            return PlainTextResponse(f"Error: {error}\n", error.status)
        except TooSlowError:
            return PlainTextResponse("Error: the text takes too long; try again\n", 503)
        except ClientDisconnect:  # no answer is read
            return Response()
        return _json(answer(asked, found, self.link))

    async def _matches(self, document: Annotated, offers: bool, request: Request) -> tuple[Match, ...]:
        """The matches, unless the client leaves: then the next request has its turn at once."""
        if self._waiting >= self.limits.waiting:
            raise RequestError("too many requests are waiting", 503)
        self._waiting += 1
        has_left, found = Event(), None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_watch, request, has_left, tasks.cancel_scope)
                with suppress(TooSlowError):
                    work = partial(self._found, document, offers, has_left)
                    found = await to_thread.run_sync(work, limiter=self._turn)
                tasks.cancel_scope.cancel()
        finally:
            self._waiting -= 1
        if found is None:
            raise TooSlowError
        return found

    def _found(self, document: Annotated, offers: bool, has_left: Event) -> tuple[Match, ...]:
        deadline = time.monotonic() + self.limits.patience
        return self._corrector.matches(
            document, offers, lambda: has_left.is_set() or time.monotonic() > deadline
        )


async def _watch(request: Request, has_left: Event, waiting: anyio.CancelScope) -> None:
    """End a request whose client closes the connection."""
    while not await request.is_disconnected():
        await anyio.sleep(GLANCE)
    has_left.set()
    waiting.cancel()


async def _body(request: Request) -> bytes:
    """The body, read no further than a request may be long."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise RequestError(f"a text may have {LONGEST:,} characters", 413)
        parts.append(part)
    return b"".join(parts)


def _json(value: Any) -> Response:
    # Half of an emoji has no UTF-8, so everything beyond ASCII is escaped.
    return Response(json.dumps(value), headers=_NOT_STORED, media_type="application/json")


def _constant(value: Any) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return PlainTextResponse(value, headers=_NOT_STORED) if isinstance(value, str) else _json(value)

    return endpoint


class AppOnDemand:
    """The app's pages, in this process. Streamlit is imported, and the workers start, with the first
    request, since an editor needs neither.
    """

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._running = AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._starting:
            if self._app is None:
                self._app = await self._started()
        await self._app(scope, receive, send)

    @cached_property
    def _starting(self) -> anyio.Lock:
        return anyio.Lock()

    async def _started(self) -> ASGIApp:
        spec = spec_from_file_location("see_attention_app", assets.FOLDER.with_name("app.py"))
        assert spec and spec.loader, "app.py is a file"
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        logging.getLogger("uvicorn.access").disabled = True  # Streamlit switches it on; addresses hold texts
        await self._running.enter_async_context(module.app.lifespan()(None))
        return module.app

    async def close(self) -> None:
        await self._running.aclose()


def application(service: Service, guard: Guard, pages: AppOnDemand | None = None) -> Starlette:
    """The ASGI application: the service, and the app's pages everywhere else."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(service.prepare)
            yield
        if pages is not None:
            await pages.close()

    routes = [service.routes(), *([Mount("/", pages)] if pages is not None else [])]
    return Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(Guarded, guard=guard)])
