"""`askwise label`: the server on this machine, with a link that carries the token."""

import os
import signal
import socket
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from threading import Timer
from types import FrameType

import uvicorn

from askwise.errors import InputError
from askwise.project import Project
from askwise.web.app import make_app
from askwise.web.backend import make_backend
from askwise.web.beside import Pair
from askwise.web.desk import Desk
from askwise.web.guard import App
from askwise.web.live import Live
from askwise.web.people import People, people_of
from askwise.web.qr import printed

_PORTS = range(8765, 8785)
_BACKEND = "label-studio"


def serve(
    project: Project,
    *,
    beside: Pair | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    public: str | None = None,
    people: Sequence[str] = (),
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until it is interrupted, with a link for its owner and for each of these people.

    `beside` are the processes that learn and encode; they may be at work already, and end with the page.
    On another host than this machine people must be named. `public` is the name of a server with TLS in
    front, which hands requests on to this one.
    """
    if not (_is_here(host) and public is None) and not people:
        raise InputError(
            f"the page is for this machine alone, and {public or host} is open to others; give everybody a "
            "link of their own with --person NAME, and since tokens travel with every request, put a server "
            "with TLS in front: askwise label PROJECT --public your.domain --person NAME, and beside it "
            f"caddy reverse-proxy --from your.domain --to 127.0.0.1:{port or _PORTS[0]}"
        )
    listener = _listener(host, port)
    number = listener.getsockname()[1]
    known = people_of(project, people)
    desk = Desk(project)
    beside = beside or Pair(project.folder, encodes=project.encodes)
    live = Live(project.folder, beside, bar=desk.bar)
    here = f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"
    base = here if public is None else f"https://{public}"
    app = make_app(desk, live, people=known, hosts=hosts(host, number, public=public), base=base)
    away = public is not None or not _is_here(host)
    for line in links(project, known, base, codes=away):
        say(line)
    if not away and (tunnel := tunnel_line(os.environ, number)):
        say(tunnel)
    if browser and not away:
        Timer(1.0, webbrowser.open, [f"{base}/#{known.token(known.owner)}"]).start()
    say("Stop with Ctrl+C; every answer is on the disk.")
    _run(app, listener, beside, say=say)


def serve_backend(
    project: Project, *, host: str = "127.0.0.1", port: int | None = None, say: Callable[[str], None] = print
) -> None:
    """Serve an ML backend of Label Studio until it is interrupted; its address holds the token."""
    if not _is_here(host):
        raise InputError(
            f"the backend is for this machine alone, and {host} is open to others; put a server with TLS in "
            "front, or run Label Studio here"
        )
    listener = _listener(host, port)
    number = listener.getsockname()[1]
    token = people_of(project, file=f"{_BACKEND}.json", owner=_BACKEND).give(_BACKEND)
    desk = Desk(project)
    beside = Pair(project.folder, encodes=project.encodes)
    live = Live(project.folder, beside, bar=desk.bar)
    app = make_backend(desk, live, token=token, hosts=hosts(host, number))
    say(f"{project.name}: the Backend URL for Label Studio is http://{host}:{number}/{token}")
    say("Stop with Ctrl+C; every answer is on the disk.")
    _run(app, listener, beside, say=say)


class _Server(uvicorn.Server):
    """A server that a second Ctrl+C ends at once: the app is closed as ever, but waits for nobody.

    uvicorn would leave it half closed, with a traceback, or wait on.
    """

    def __init__(self, config: uvicorn.Config, beside: Pair) -> None:
        super().__init__(config)
        self._beside = beside
        self.hurried = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Called by a signal."""
        if self.should_exit and sig == signal.SIGINT:
            self.hurried = True
            self._beside.kill()
        else:
            super().handle_exit(sig, frame)


def _run(app: App, listener: socket.socket, beside: Pair, *, say: Callable[[str], None]) -> None:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=2,
        limit_concurrency=256,
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config, beside)
    with suppress(KeyboardInterrupt):  # uvicorn has closed everything, and raises it once more
        server.run(sockets=[listener])
    if server.hurried:
        say("Ended at once: every answer is on the disk; the last model may not be saved.")


def links(project: Project, people: People, base: str, *, codes: bool) -> list[str]:
    """A line for each link, the owner's first; with QR codes for phones, where these can reach the page."""
    found = [f"{project.name}: {base}/#{people.token(people.owner)}"]
    for token, name in people.items():
        if name != people.owner:
            found.append(f"{name}: {base}/#{token}")
            found += [printed(f"{base}/#{token}")] if codes else []
    return found


def tunnel_line(environ: Mapping[str, str], port: int) -> str | None:
    """How to reach the page of a machine that one works on by ssh; none where one sits at it."""
    parts = environ.get("SSH_CONNECTION", "").split()
    if len(parts) != 4:
        return None
    who = f"{environ['USER']}@" if environ.get("USER") else ""
    return f"From your own machine: ssh -L {port}:127.0.0.1:{port} {who}{parts[2]}, then open the link there."


def hosts(host: str, port: int, *, public: str | None = None) -> frozenset[str]:
    """What the header Host may say: a name that resolves here, but is another, is refused."""
    if public is not None:
        return frozenset({public.lower()})
    names = {host, "127.0.0.1", "localhost", "[::1]"} if _is_here(host) else {host}
    shown = {f"[{name}]" if ":" in name and not name.startswith("[") else name for name in names}
    return frozenset({f"{name}:{port}" for name in shown} | (shown if port == 80 else set()))


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _listener(host: str, port: int | None) -> socket.socket:
    """A socket that listens, on the wanted port or the first that is free."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in _PORTS if port is None else [port]:
        found = socket.socket(kind, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, number))
        except OSError as error:
            found.close()
            if port is not None:
                raise InputError(
                    f"port {port} of {host} cannot be used ({error.strerror}); choose another with --port"
                ) from error
            continue
        found.listen(128)
        return found
    raise InputError(f"no port from {_PORTS[0]} to {_PORTS[-1]} is free; choose one with --port")
