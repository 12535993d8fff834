"""The one connection that a process has to Ray: begun by the first who needs it, ended by the last."""

import logging
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from askwise.errors import EngineError, InputError

try:
    import ray as ray
except ImportError as missing:
    raise InputError("the engine 'ray' needs Ray; install it with: pip install 'askwise[ray]'") from missing

OLDEST = (2, 52)  # the first with tokens, and without the hole that any page in a browser could use

_lock = threading.RLock()
_users = 0
_joined: str | None = None  # the address that our connection was made with; "local" for our own cluster
_folder: str | None = None  # of the cluster that we started
_handler: Any = signal.SIG_DFL  # of SIGTERM before


def check_version() -> None:
    """An error if this Ray is too old to be safe."""
    found = tuple(int(part) for part in re.findall(r"\d+", ray.__version__)[:2])
    if found < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(
            f"Ray {ray.__version__} can be taken over by a page in a browser; "
            f"askwise wants {oldest} or newer: pip install --upgrade 'askwise[ray]'"
        )


@contextmanager
def session(address: str | None, cores: int) -> Iterator[None]:
    """A connection to the cluster at the address, or to a new one on this machine with `cores` cores."""
    join(address, cores)
    try:
        yield
    finally:
        leave()


def join(address: str | None, cores: int) -> None:
    """Connect, unless this process is connected already; every `join` wants its `leave`."""
    global _users, _joined, _handler
    with _lock:
        if ray.is_initialized():
            _check_same(address)
        else:
            _handler = signal.getsignal(signal.SIGTERM)
            _begin(address, cores)
            _joined = address or "local"
        _users += 1


def leave() -> None:
    """Disconnect if nobody else is left; a cluster that was started here ends, and so does its folder."""
    global _users, _joined
    with _lock:
        _users -= 1
        if _users or _joined is None:
            return
        _joined = None
        _end()


def _begin(address: str | None, cores: int) -> None:
    global _folder
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address is not None:
            _check_there(address)
            with _unchanged({}):
                ray.init(address=address, **quiet)
            return
        ours = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),  # in the memory of the cluster's processes, in no file
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # what is imported here is there too
        }
        with _unchanged(ours):
            _forget_token()
            found = ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
        _folder = found.address_info["session_dir"]
    except BaseException as error:
        _end()  # what has been started of it
        if not isinstance(error, Exception):
            raise
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise EngineError(
            f"a Ray cluster could not be started on this machine: {line}"
            if address is None
            else f"a Ray cluster could not be reached at {address}: {line}; is it up, and is its token "
            "known here (RAY_AUTH_MODE=token, docs/cluster.md)?"
        ) from error


def _end() -> None:
    global _folder
    ray.shutdown()
    _on_terminate(_handler)
    _forget_token()
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None


@contextmanager
def _unchanged(settings: dict[str, str]) -> Iterator[None]:
    """Settings for Ray in the environment, which is after that as it was."""
    before, handler = dict(os.environ), signal.getsignal(signal.SIGTERM)
    os.environ.update(settings)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Ray will do differently in its next versions
            yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
        # Ray's own handler aborts; the default would not give it the time to end its processes
        _on_terminate(_exit if handler is signal.SIG_DFL else handler)


def _exit(number: int, _: object) -> None:
    sys.exit(128 + number)  # as a shell tells it; on the way out, everything is ended in order


def _on_terminate(handler: Any) -> None:
    # other threads may not, and Ray did not; there is none where it was set outside of Python
    if threading.current_thread() is threading.main_thread() and handler is not None:
        signal.signal(signal.SIGTERM, handler)


def _forget_token() -> None:
    """Make Ray read mode and token from the environment again: it caches both."""
    from ray._raylet import AuthenticationTokenLoader, Config

    Config.initialize("")  # the mode first: with it on, Ray aborts when it finds no token
    AuthenticationTokenLoader.instance().reset_cache()


def _check_there(address: str) -> None:
    """An error if nothing answers at host:port, where Ray would try for minutes."""
    if found := re.fullmatch(r"(?:ray://)?\[?([^\]/]+?)\]?:(\d+)", address):
        socket.create_connection((found[1], int(found[2])), timeout=10).close()


def _check_same(address: str | None) -> None:
    """An error if this process is connected to another cluster than the one wanted."""
    here = ray.get_runtime_context().gcs_address
    if address not in (None, "auto", _joined, here):
        raise InputError(
            f"this process is connected to the Ray cluster at {here}, and {address} is wanted; "
            "end that connection first: ray.shutdown()"
        )
