"""Users: names, passwords, tags."""

from __future__ import annotations

from twinlog.amqp.users import HASH_SHA256
from twinlog.cluster.kinds.users import PERMISSIONS, TOPIC_PERMISSIONS, USERS, UserPut
from twinlog.servers.http.bodies import body_of, text, texts
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import (
    HttpError,
    Request,
    Response,
    bad_request,
    created,
    no_content,
    not_found,
    ok,
)
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, Routes
from twinlog.servers.http.views import permission_view, topic_permission_view, user_view
from twinlog.servers.http.waiting import outcome_of

routes = Routes("users")

USER_BODY = (
    ("password", "in the clear; or"),
    ("password_hash", "base64 of salt and hash; empty: nobody comes in by password"),
    ("hashing_algorithm", "how password_hash was made; SHA-256 when it is not told"),
    ("tags", "administrator, monitoring, policymaker, management; with commas between, or a list"),
)


@routes.get("/api/users", ADMINISTRATOR, "All users.", query=QUERY)
async def users(managed: Managed, request: Request) -> Response:
    return await listed(
        managed.tasks,
        request,
        list(managed.image.part(USERS).values()),
        lambda each: each.name,
        lambda each: user_view(each, with_hash=True),
    )


@routes.get("/api/users/without-permissions", ADMINISTRATOR, "Users who may enter no vhost.")
def users_without_permissions(managed: Managed, request: Request) -> Response:
    entering = {user for _, user in managed.image.part(PERMISSIONS)}
    found = managed.image.part(USERS).values()
    return ok([user_view(each, with_hash=True) for each in found if each.name not in entering])


@routes.post("/api/users/bulk-delete", ADMINISTRATOR, "Deletes several users.", body=(("users", "names"),), answers=204)
async def delete_users(managed: Managed, request: Request) -> Response:
    names = texts(body_of(request).get("users"), "users")
    if request.user in names:
        raise bad_request("nobody deletes the user who is logged in")
    await outcome_of(managed.tasks, lambda done: managed.administration.delete_users(names, done))
    return no_content()


@routes.get("/api/auth/hash_password/{password}", ADMINISTRATOR, "A password as definitions hold it, salted anew.")
def hash_password(managed: Managed, request: Request) -> Response:
    return ok({"ok": managed.administration.hashed(request.parameters["password"])})


@routes.get("/api/users/{user}", ADMINISTRATOR, "One user.")
def user(managed: Managed, request: Request) -> Response:
    return ok(user_view(known_user(managed, request), with_hash=True))


def known_user(managed: Managed, request: Request) -> UserPut:
    known = managed.image.part(USERS).get(request.parameters["user"])
    if known is None:
        raise not_found()
    return known


@routes.put(
    "/api/users/{user}",
    ADMINISTRATOR,
    "Creates a user, or gives one a new password and tags.",
    body=USER_BODY,
    answers=201,
)
async def put_user(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    name = request.parameters["user"]
    known = managed.image.part(USERS).get(name)
    wanted = wanted_user(managed, name, body, known)
    await outcome_of(managed.tasks, lambda done: managed.administration.put_user(wanted, done))
    return no_content() if known else created()


def wanted_user(managed: Managed, name: str, body: dict[str, object], known: UserPut | None) -> UserPut:
    """A user as a request or a file of definitions describes it. Who is not given a password keeps the one there is."""
    if "tags" not in body:
        raise bad_request("key_missing: tags")
    tags = tuple(texts(body["tags"], "tags"))
    hashing = text(body, "hashing_algorithm", "") or HASH_SHA256
    if "password" in body:
        password = text(body, "password")
        if not password:
            raise bad_request("an empty password is none; give password_hash as empty text for a user without one")
        password_hash, hashing = managed.administration.hashed(password), HASH_SHA256
    elif "password_hash" in body:
        password_hash = text(body, "password_hash")
    elif known is not None:
        password_hash, hashing = known.password_hash, known.hashing
    else:
        password_hash, hashing = "", HASH_SHA256
    return UserPut(name, password_hash, hashing, tags, dict(known.limits) if known else {})


@routes.delete("/api/users/{user}", ADMINISTRATOR, "Deletes a user and what it may do.")
async def delete_user(managed: Managed, request: Request) -> Response:
    name = known_user(managed, request).name
    if name == request.user:
        raise HttpError(400, "bad_request", "nobody deletes the user who is logged in")
    await outcome_of(managed.tasks, lambda done: managed.administration.delete_users([name], done))
    return no_content()


@routes.get("/api/users/{user}/permissions", ADMINISTRATOR, "What the user may do, by vhost.")
def user_permissions(managed: Managed, request: Request) -> Response:
    name = known_user(managed, request).name
    found = managed.image.part(PERMISSIONS).values()
    return ok([permission_view(each) for each in found if each.user == name])


@routes.get("/api/users/{user}/topic-permissions", ADMINISTRATOR, "The user's limits on keys of topic exchanges.")
def user_topic_permissions(managed: Managed, request: Request) -> Response:
    name = known_user(managed, request).name
    found = managed.image.part(TOPIC_PERMISSIONS).values()
    return ok([topic_permission_view(each) for each in found if each.user == name])
