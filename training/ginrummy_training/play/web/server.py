"""The local server: a few addresses, JSON in and out, and nobody but this machine's browser.

- Requests for another host, or from another page (Origin), are refused: a web site that is open in
  the same browser can neither read the game nor play it.
- Everything that comes in is checked before the game hears of it; what is wrong gets a 4xx with
  ``{"error": ...}`` and changes nothing.
"""

import json
import logging
import select
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from flask import Flask, Response, request
from waitress.server import create_server
from werkzeug.exceptions import HTTPException

from ginrummy_env.viewer.page import embed, static
from ginrummy_env.viewer.scene import CARD_NAMES, Json
from ginrummy_training.play.web.game import WebError, WebGame

HOST = "127.0.0.1"
MOST_BYTES = 4_096
"""Of a request's body; those of the page have some 60."""

MOST_CONNECTIONS = 500
"""At the same time; more wait. A page has two or three."""

IDLE_SECONDS = 10
"""A connection on which nothing arrives for so long is closed, also in the middle of a request."""

MOST_NUMBER = 2**31 - 1
MOST_TEXT = 200

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_REPLAY_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

log = logging.getLogger(__name__)


def create_app(game: WebGame, hosts: set[str]) -> Flask:
    """Return the application.

    Args:
        game: what is played.
        hosts: what a browser may call this server, such as ``127.0.0.1:8765``; may be filled later.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES

    @app.before_request
    def refuse_strangers() -> None:
        if request.host not in hosts:
            raise WebError(403, "this server is for this machine's own browser")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            raise WebError(403, "a page from elsewhere may not use this server")
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise WebError(403, "a page from elsewhere may not use this server")

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    @app.errorhandler(Exception)
    def explain_error(error: Exception) -> Response:
        if isinstance(error, WebError):
            return _json({"error": str(error)}, error.status)
        if isinstance(error, HTTPException):
            return _json({"error": f"{error.name}: {request.path[:MOST_TEXT]}"}, error.code or 500)
        log.exception("%s %s", request.method, request.path)
        return _json({"error": f"this failed, the game is as it was: {error}"}, 500)

    @app.get("/")
    def page() -> Response:
        markup = _own("play.html").replace("{{cards}}", embed(CARD_NAMES))
        return Response(markup, mimetype="text/html")

    @app.get("/static/<name>")
    def part(name: str) -> Response:
        if name not in _PARTS:
            raise WebError(404, "there is no such file")
        read, kind = _PARTS[name]
        return Response(read(name), mimetype=kind)

    @app.get("/replay")
    def replay() -> Response:
        response = Response(game.replay_page(), mimetype="text/html")
        response.headers["Content-Security-Policy"] = _REPLAY_POLICY
        return response

    @app.get("/api/game")
    def scene() -> Response:
        return _json(game.scene())

    @app.post("/api/act")
    def act() -> Response:
        asked = _asked(action=int)
        if asked["action"] > 107:
            raise WebError(400, f"action={asked['action']}: actions are 0..107")
        return _json(game.act(**asked))

    @app.post("/api/go-on")
    def go_on() -> Response:
        return _json(game.go_on(**_asked()))

    @app.post("/api/new-game")
    def new_game() -> Response:
        return _json(game.new_game(**_asked(agent=str, rules=str)))

    @app.post("/api/hint")
    def hint() -> Response:
        return _json(game.hint(**_asked(agent=str)))

    return app


def _own(name: str) -> str:
    return files("ginrummy_training.play.web").joinpath("static", name).read_text(encoding="utf-8")


_PARTS: dict[str, tuple[Callable[[str], str], str]] = {
    "viewer.css": (static, "text/css"),
    "table.js": (static, "text/javascript"),
    "play.js": (_own, "text/javascript"),
}


def _json(data: Json, status: int = 200) -> Response:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Response(text, status, mimetype="application/json")


def _asked(**more: type) -> dict[str, Any]:
    """Return the request's values: game and version, and ``more``, nothing else.

    Raises:
        WebError: they are not there, or not what they should be.
    """
    if request.mimetype != "application/json":
        raise WebError(415, "the body has to be application/json")
    try:
        given = json.loads(request.get_data().decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise WebError(400, "the body is not JSON") from None
    kinds: dict[str, type] = {"game": int, "version": int, **more}
    if not isinstance(given, dict) or set(given) != set(kinds):
        raise WebError(400, f"an object with {', '.join(kinds)} is needed, and nothing else")
    for name, kind in kinds.items():
        value = given[name]
        if kind is int and (type(value) is not int or not 0 <= value <= MOST_NUMBER):
            raise WebError(400, f"{name}: a whole number from 0 is needed")
        if kind is str and (type(value) is not str or len(value) > MOST_TEXT):
            raise WebError(400, f"{name}: a text of at most {MOST_TEXT} letters is needed")
    return given


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


class Server:
    """The game on a port of this machine.

    Args:
        game: what is played.
        port: 0 for any that is free.
        idle_seconds: after which a connection without traffic is closed.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, game: WebGame, port: int = 0, *, idle_seconds: int = IDLE_SECONDS) -> None:
        hosts: set[str] = set()
        self._server = create_server(
            create_app(game, hosts),
            host=HOST,
            port=port,
            threads=4,
            ident=None,
            max_request_body_size=MOST_BYTES,
            max_request_header_size=16_384,
            channel_timeout=idle_seconds,
            cleanup_interval=max(1, idle_seconds // 2),
            connection_limit=MOST_CONNECTIONS,
            asyncore_use_poll=hasattr(select, "poll"),  # select ends at 1,024 files
        )
        self.port = int(getattr(self._server, "effective_port", port))
        hosts.update(f"{name}:{self.port}" for name in (HOST, "localhost"))
        if self.port == 80:
            hosts.update((HOST, "localhost"))

    @property
    def url(self) -> str:
        """Where to point a browser."""
        return f"http://{HOST}:{self.port}/"

    def run(self) -> None:
        """Serve until interrupted or closed."""
        self._server.run()

    def close(self) -> None:
        """Stop serving, from any thread: its own closes the sockets."""
        server: Any = self._server

        def close_all() -> None:
            for channel in list(server.active_channels.values()):  # browsers keep theirs open
                channel.handle_close()
            server.close()

        server.trigger.pull_trigger(close_all)
