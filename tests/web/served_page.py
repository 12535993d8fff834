"""A page behind a real socket, in a thread of this process: for a browser."""

import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

import uvicorn
from small_page import TOKEN, Page


class Served(Page):
    """The server itself; its first person is the owner, in whose name `url` is."""

    def __init__(self, project: Any, *, people: dict[str, str] | None = None) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self.socket.getsockname()[1]}"
        people = people or {TOKEN: "ann"}
        super().__init__(project, people=people, host=self.host)
        self.url = f"http://{self.host}/#{next(iter(people))}"
        config = uvicorn.Config(self.app, log_level="error", ws="none", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()

    def of(self, token: str) -> Any:
        """A server as a visitor sees it who has this token."""
        return type("Link", (), {"url": f"http://{self.host}/#{token}"})
