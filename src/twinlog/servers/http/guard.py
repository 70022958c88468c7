"""Who asks, and whether a request may be what it says: login, session, origin, content type, rights.

A tool brings Basic credentials with each request. A browser logs in once and then shows a cookie; what changes
anything must also bring the session's token in a header. No page from elsewhere can make a browser do either: a
foreign ``Origin`` is refused whatever else the request has, bodies must be declared as JSON, and the machine's own
browsers must have come by a name that is this machine's (else a name re-pointed at us would be its own origin).
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from twinlog.base import Refused
from twinlog.cluster.kinds.users import USERS
from twinlog.servers.http.lockout import Lockout
from twinlog.servers.http.message import JSON, Asker, HttpError, Request, Response, bad_request, forbidden
from twinlog.servers.http.router import ADMINISTRATOR, ANYBODY, MONITOR, POLICYMAKER, USER, VHOST, Route
from twinlog.servers.http.sessions import Session, Sessions, is_token

if TYPE_CHECKING:
    from twinlog.servers.http.ports import Managed

COOKIE: Final = "twinlog_session"
TOKEN_HEADER: Final = "x-csrf-token"
MANAGEMENT_TAGS: Final = frozenset(("administrator", "monitoring", "policymaker", "management"))
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
AUTHORIZATION_MAX: Final = 2048
CHALLENGE: Final = ("WWW-Authenticate", 'Basic realm="Twinlog Management"')
ADDRESS_LOOPBACK: Final = ("127.", "::1", "::ffff:127.")

SECURITY_HEADERS: Final = (
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


def is_loopback(host: str) -> bool:
    return host.startswith(ADDRESS_LOOPBACK)


class Guard:
    def __init__(self, managed: Managed, sessions: Sessions, lockout: Lockout) -> None:
        self._managed = managed
        self._settings = managed.settings
        self.sessions = sessions
        self.lockout = lockout

    # ---- where from ---------------------------------------------------------------------------------------------

    def check_source(self, request: Request) -> None:
        """Refuses what a foreign page could have sent."""
        host = request.headers.get("host", "")
        if is_loopback(request.local[0]):
            self._check_host(host)
        origin = request.headers.get("origin")
        if origin is not None and not self._is_ours(origin, host):
            raise forbidden("requests from pages of another origin are refused")
        if origin is None and request.method not in SAFE_METHODS:
            site = request.headers.get("sec-fetch-site", "none")
            if site not in ("none", "same-origin"):
                raise forbidden("requests from pages of another origin are refused")

    def check_body(self, request: Request) -> None:
        if "transfer-encoding" not in request.headers and request.headers.get("content-length", "0") == "0":
            return
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != JSON:
            raise forbidden("a body must be declared as Content-Type: application/json")

    def _check_host(self, host: str) -> None:
        name = host_name(host)
        if name in ("", "localhost") or name.endswith(".localhost") or name in self._settings.host_names:
            return
        try:
            ipaddress.ip_address(name)
        except ValueError:
            raise HttpError(
                421, "misdirected_request", "this machine is not known by that name; see the setting http.host_names"
            ) from None

    def _is_ours(self, origin: str, host: str) -> bool:
        return origin in (f"http://{host}", f"https://{host}") or origin in self._settings.cors_origins

    def cors_headers(self, request: Request) -> list[tuple[str, str]]:
        origin = request.headers.get("origin")
        if origin is None or origin not in self._settings.cors_origins:
            return []
        return [
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Credentials", "true"),
            ("Vary", "Origin"),
        ]

    def preflight(self, request: Request) -> Response:
        headers = self.cors_headers(request)
        if headers:
            headers += [
                ("Access-Control-Allow-Methods", "GET, PUT, POST, DELETE"),
                ("Access-Control-Allow-Headers", "content-type, x-csrf-token"),
                ("Access-Control-Max-Age", "600"),
            ]
        return Response(204, headers=headers)

    # ---- who ----------------------------------------------------------------------------------------------------

    def admit(self, request: Request, route: Route) -> None:
        """Sets ``request.asker``; ``HttpError`` for who may not."""
        if route.needs == ANYBODY or (route.group == "metrics" and self._settings.metrics_open):
            return
        request.asker = self._asker(request)
        self._check_needs(request.asker, request, route)

    def _asker(self, request: Request) -> Asker:
        authorization = request.headers.get("authorization")
        if authorization is not None:
            user, password = basic_credentials(authorization)
            return self.login(user, password, request)
        session_id = cookie(request.headers, COOKIE)
        session = self.sessions.find(session_id) if session_id else None
        if session is not None and self._still_valid(session):
            if request.method not in SAFE_METHODS and not is_token(session, request.headers.get(TOKEN_HEADER, "")):
                raise forbidden("a change from a browser needs the session's token in the header X-CSRF-Token")
            return self._known(session.user, request.peer, session)
        raise self._unknown(request, "Login failed")

    def login(self, user: str, password: bytes, request: Request) -> Asker:
        address = request.peer[0]
        wait_ms = self.lockout.wait_ms(address, user)
        if wait_ms:
            seconds = -(-wait_ms // 1000)
            raise HttpError(
                429,
                "too_many_requests",
                f"too many failed logins: try again in {seconds} s",
                [("Retry-After", str(seconds))],
            )
        if not self._managed.rights.login(user, password, loopback=is_loopback(address)):
            self.lockout.failed(address, user)
            self._managed.log.warning("an HTTP login failed", peer=address, user=user)
            raise self._unknown(request, "Login failed")
        self.lockout.succeeded(address, user)
        return self._known(user, request.peer)

    def still_welcome(self, asker: Asker) -> bool:
        """For answers that go on and on: whether a request of this asker would be let in now."""
        session = asker.session
        if isinstance(session, Session) and not (self.sessions.is_alive(session) and self._still_valid(session)):
            return False
        return bool(MANAGEMENT_TAGS.intersection(self._managed.rights.tags(asker.user)))

    def password_mark(self, user: str) -> str:
        known = self._managed.image.part(USERS).get(user)
        return known.password_hash if known else ""

    def _still_valid(self, session: Session) -> bool:
        known = self._managed.image.part(USERS).get(session.user)
        return known is not None and known.password_hash == session.password_mark

    def _known(self, user: str, peer: tuple[str, int], session: Session | None = None) -> Asker:
        asker = Asker(user, self._managed.rights.tags(user), peer, session)
        if not asker.tags & MANAGEMENT_TAGS:
            raise HttpError(401, "not_authorized", "Not management user")
        return asker

    def _unknown(self, request: Request, reason: str) -> HttpError:
        # A browser's script gets no challenge: its page has a form of its own, and a dialog would come between.
        from_page = "sec-fetch-mode" in request.headers and request.headers["sec-fetch-mode"] != "navigate"
        return HttpError(401, "not_authorized", reason, [] if from_page else [CHALLENGE])

    # ---- whether they may ---------------------------------------------------------------------------------------

    def _check_needs(self, asker: Asker, request: Request, route: Route) -> None:
        tags = asker.tags
        if route.needs == USER or ("administrator" in tags and route.needs != VHOST):
            return
        if route.needs in (VHOST, POLICYMAKER):
            self._check_vhost(asker, request, route)
            return
        if route.needs == MONITOR and "monitoring" in tags:
            return
        word = {MONITOR: "monitor", ADMINISTRATOR: "administrator"}[route.needs]
        raise HttpError(401, "not_authorized", f"Not {word} user")

    def _check_vhost(self, asker: Asker, request: Request, route: Route) -> None:
        vhost = request.parameters.get("vhost")
        if vhost is not None and not self._managed.topology.has_vhost(vhost):
            raise HttpError(404, "Object Not Found", "Not Found")
        if route.needs == POLICYMAKER and "policymaker" not in asker.tags:
            raise HttpError(401, "not_authorized", "Not policymaker user")
        if vhost is None:
            return
        if not self._managed.rights.may_enter(asker.user, vhost):
            looks = request.method in SAFE_METHODS and asker.tags & {"administrator", "monitoring"}
            if not looks:
                raise HttpError(401, "not_authorized", "User not authorised to access virtual host")


def host_name(host: str) -> str:
    """A Host header without its port, in small letters."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0] if name.count(":") <= 1 else name


def basic_credentials(authorization: str) -> tuple[str, bytes]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic" or len(encoded) > AUTHORIZATION_MAX:
        raise HttpError(401, "not_authorized", "Login failed", [CHALLENGE])
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        name = user.decode()
    except (binascii.Error, ValueError):
        raise bad_request("the credentials are not base64 of user:password") from None
    if not colon:
        raise bad_request("the credentials are not base64 of user:password")
    return name, password


def cookie(headers: Mapping[str, str], name: str) -> str:
    for part in headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


def refused(refusal: Refused) -> HttpError:
    """A room's refusal in HTTP. AMQP's codes are near enough to HTTP's to be read by people."""
    code = refusal.code
    if code == 404:
        return HttpError(404, "Object Not Found", str(refusal))
    if code == 403:
        return HttpError(401, "not_authorized", str(refusal))
    if code == 530:
        return HttpError(400, "bad_request", str(refusal))
    return HttpError(400, "bad_request", str(refusal))
