"""A project to try the page with: the handwritten digits inside scikit-learn, unlabelled."""

from pathlib import Path

from askwise.project import PLAN, Project, is_project
from askwise.runs.build import learner
from askwise.runs.material import material, read_plan

_PLAN = """# Handwritten digits of 8 x 8 pixels: what the page asks about, and what it learns with.
classes = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
data = "digits"
network = "linear"
acquire = "margin"
initial = 20
batch = 10
budget = 300
seed = 0
[posterior]
name = "laplace"
"""


def demo_project(folder: Path | None) -> Project:
    """The project in a folder; made if it is not there."""
    project = Project(folder or Path("askwise-label-demo"))
    if not is_project(project.folder):
        project.folder.mkdir(parents=True, exist_ok=True)
        (project.folder / PLAN).write_text(_PLAN, encoding="utf-8")
    if not project.store.exists():
        plan = read_plan(project.plan)
        learner(plan, material(plan), store=project.store, folder=project.folder).close()
    return project
