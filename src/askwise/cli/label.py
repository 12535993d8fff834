"""`askwise label`: the page, on which a person answers and the model learns meanwhile."""

from pathlib import Path
from typing import Annotated

import typer

from askwise.errors import InputError


def label(
    name: Annotated[Path | None, typer.Argument(help="The folder of the project.", metavar="[NAME]")] = None,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Try the page on handwritten digits; NAME becomes a project of them."),
    ] = False,
    host: Annotated[str, typer.Option(help="Where to listen; others than this machine need tokens.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="By default the first free one.")] = None,
    public: Annotated[
        str | None,
        typer.Option(metavar="DOMAIN", help="Host name of a proxy with TLS in front of this server."),
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A person who gets a link of their own; repeatable."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link only.")] = False,
) -> None:
    """Open the page where a person answers and the model learns.

    It runs on this machine alone and needs no network. Stop it with Ctrl+C; pressed again, it does not
    wait for the last model to be saved.
    """
    from askwise.project import open_project

    if name is None and not demo:
        raise InputError("name a project: askwise label pets; or try: askwise label --demo")
    from askwise.web.beside import Pair

    if demo:
        from askwise.web.demo import demo_project

        project = demo_project(name)
    else:
        project = open_project(name or Path())
    beside = Pair(project.folder, encodes=project.encodes)
    try:
        beside.start()  # before the server has loaded: the first question comes seconds earlier
        from askwise.web.serve import serve

        serve(
            project,
            beside=beside,
            host=host,
            port=port,
            public=public,
            people=person or (),
            browser=not no_browser,
            say=typer.echo,
        )
    finally:
        beside.stop()
