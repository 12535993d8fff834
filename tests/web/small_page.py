"""A small project behind its server, without the processes beside it unless a test wants them."""

from pathlib import Path

import numpy as np
from PIL import Image
from starlette.testclient import TestClient

from askwise.project import Project
from askwise.runs.build import learner
from askwise.runs.material import material, read_plan
from askwise.store import open_store
from askwise.store.facts import Question
from askwise.web.app import make_app
from askwise.web.beside import Pair
from askwise.web.desk import Desk
from askwise.web.live import Live
from askwise.web.people import People

TOKEN = "a-token-that-only-ann-has"  # noqa: S105
HOST = "127.0.0.1:8765"
HEADERS = {"authorization": f"Bearer {TOKEN}"}
PLAN = """classes = {classes}
data = {data}
data_options = {{size = 8, channels = 3}}
network = "linear"
acquire = "margin"
initial = 6
batch = 4
budget = 60
seed = 0
[posterior]
name = "laplace"
[training]
epochs = 5
"""


def write_project(folder: Path, *, pictures: int = 40, classes=("dark", "light")) -> Project:
    """A project of pictures that are dark or light; six questions are asked already."""
    rng = np.random.default_rng(0)
    photos = folder / "photos"
    photos.mkdir(parents=True)
    for number in range(pictures):
        low = 0 if number % 2 else 150
        pixels = rng.integers(low, low + 100, (16, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(photos / f"p{number:03d}.png")
    project = Project(folder / "project")
    project.folder.mkdir()
    project.plan.write_text(PLAN.format(data=repr(str(photos)), classes=list(classes)), encoding="utf-8")
    plan = read_plan(project.plan)
    with learner(plan, material(plan), store=project.store, folder=project.folder) as ours:
        ours.ask()
    return project


def rows_project(folder: Path, kind: str) -> Project:
    """A project of rows of numbers, whose labels are tags or numbers as `kind` says."""
    project = Project(folder)
    folder.mkdir()
    rows = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    np.save(folder / "rows.npy", rows)
    acquire = "variance_of_means" if "regression" in kind else "bald"
    project.plan.write_text(
        f"""{kind}
data = {str(folder / "rows.npy")!r}
network = "linear"
acquire = "{acquire}"
initial = 4
batch = 4
budget = 20
[posterior]
name = "laplace"
[training]
epochs = 3
""",
        encoding="utf-8",
    )
    plan = read_plan(project.plan)
    with learner(plan, material(plan), store=project.store, folder=folder) as ours:
        ours.ask()
    return project


class Still(Live):
    """No process is begun: what they would tell is told by the test."""

    def start(self) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""

    def tell(self, kind, **values):
        self._trained({"kind": kind, **values})


class Page:
    """A server in this process, and what it stands on."""

    def __init__(self, project: Project, *, per_second: float = 1e6, people=None, host: str = HOST) -> None:
        self.project = project
        self.desk = Desk(project)
        names = {name: token for token, name in (people or {TOKEN: "ann"}).items()}
        self.people = People(names, owner=next(iter(names)))
        self.live = Still(project.folder, Pair(project.folder, encodes=False), bar=self.desk.bar)
        self.app = make_app(
            self.desk,
            self.live,
            people=self.people,
            hosts=frozenset({host}),
            base=f"http://{host}",
            per_second=per_second,
        )
        self.client = TestClient(
            self.app, base_url=f"http://{host}", headers=HEADERS, raise_server_exceptions=False
        )

    def pool_ids(self):
        return list(self.desk.pool.ids)

    def ask(self, ids, *, kind="learn"):
        """What the trainer does: newer questions."""
        store = open_store(self.project.store)
        try:
            store.append([Question(id=name, round=1, rank=rank, kind=kind) for rank, name in enumerate(ids)])
        finally:
            store.close()

    def get(self, path, **options):
        return self.client.get(path, **options)

    def post(self, path, body):
        return self.client.post(path, json=body)

    def questions(self, n=8, keep=None):
        return self.get("/api/questions", params={"n": n} | ({} if keep is None else {"keep": keep})).json()[
            "questions"
        ]

    def answer(self, question, value=None, *, verdict="label", key=None, **more):
        body = {
            "key": key or f"key-{verdict}-{question['question']}-{value}",
            "question": question["question"],
            "item": question["item"],
            "verdict": verdict,
            "value": value,
            **more,
        }
        return self.post("/api/answers", [body])


def truth(name: str) -> str:
    """The class of a picture, by its name."""
    return "dark" if int(name[1:4]) % 2 else "light"
