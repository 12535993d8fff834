"""A project begins with a fast encoder, and moves to its own once that has been through all items."""

import numpy as np
import pytest
from PIL import Image

from askwise.loop.featured import feature_pool, head_of
from askwise.pool import encode_ahead
from askwise.project.create import create
from askwise.project.sources import source
from askwise.project.working import passes, working_plan
from askwise.runs.build import learner, whole_network
from askwise.runs.material import material
from askwise.runs.trained import last_model
from askwise.store import open_store
from askwise.store.facts import Encoded, Segment

ENCODERS = """
import torch
from torch import nn

class Means(nn.Module):
    width, licence = 3, "CC0"
    def __init__(self, scale, size):
        super().__init__()
        self.size = size
        self.register_buffer("scale", torch.tensor(scale))
    def forward(self, x):
        return self.scale * x.mean(dim=(2, 3))

def slow():
    return Means(2.0, 8)

def quick():
    return Means(1.0, 4)
"""
SLOW, QUICK = "own_two:slow", "own_two:quick"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("askwise.encoders.first_pass", lambda name: QUICK if name == SLOW else None)
    (tmp_path / "own_two.py").write_text(ENCODERS)
    for number in range(80):
        picture(tmp_path / "photos" / f"{number:02d}.png", number)
    items = source("images", tmp_path / "photos", encoder=SLOW)
    return create(tmp_path / "project", items, names=["dark", "light", "grey"]).project


def picture(path, number):
    path.parent.mkdir(exist_ok=True)
    noise = np.random.default_rng(number).integers(0, 60, (16, 16, 3))
    Image.fromarray((noise + 60 * (number % 3)).astype(np.uint8)).save(path)


def encode(project, plan, *, most=None):
    """What the encoder beside the page does, up to so many items."""
    known = material(plan, folder=project.folder)
    head = head_of(whole_network(plan, known, folder=project.folder), known.pool.like(), plan)
    store = open_store(project.place, access="read")
    for step in encode_ahead(feature_pool(head, known.pool, store), seed=plan.seed):
        if most is not None and step.encoded >= most:
            break
    store.close()


def trained(project):
    """The encoder of a step of the trainer, its model if it made one, and what it noted; all is answered."""
    plan = working_plan(project)
    with learner(
        plan, material(plan, folder=project.folder), store=project.place, folder=project.folder
    ) as ours:
        turn = ours.live().step()
        if turn is not None:
            ours.tell({one.id: int(one.id[:2]) % 3 for one in turn.asked})
            ours.live().keep()
        return plan.encoder, None if turn is None else turn.fitted, ours.store.facts(Encoded)


def test_labelling_starts_on_fast_features_and_moves_to_the_plans_own_when_those_are_complete(project):
    slow = passes(project)[1]
    assert [plan.encoder for plan in passes(project)] == [QUICK, SLOW]
    encode(project, working_plan(project))
    assert trained(project)[0] == QUICK
    encode(project, slow, most=64)
    encoder, fitted, noted = trained(project)
    assert encoder == QUICK  # the control: the slow one has not been through all items
    assert {one.encoder for one in noted} == {QUICK}
    store = open_store(project.place, access="read")
    assert last_model(slow, store, folder=project.folder).fitted.preparation["encoder"] == QUICK
    store.close()
    encode(project, slow)
    assert [plan.encoder for plan in passes(project)] == [SLOW]
    encoder, moved, noted = trained(project)
    assert encoder == SLOW
    assert moved.labels >= fitted.labels  # all labels are learned from anew
    assert (moved.number, 80) in [(one.round, one.count) for one in noted if one.encoder == SLOW]


def test_after_the_move_new_items_do_not_bring_the_fast_encoder_back(project, tmp_path):
    slow = passes(project)[1]
    encode(project, slow)
    assert trained(project)[0] == SLOW
    assert trained(project)[1] is not None
    picture(tmp_path / "photos" / "99.png", 99)
    assert working_plan(project).encoder == SLOW


def test_a_trainer_that_begins_again_sees_the_same_encoder_and_notes_no_other_conditions(project):
    encode(project, working_plan(project))
    trained(project)
    before = trained(project)
    plan = working_plan(project)
    with learner(
        plan, material(plan, folder=project.folder), store=project.place, folder=project.folder
    ) as ours:
        assert ours.store.facts(Encoded)[: len(before[2])] == before[2]
        changed = [one.changed for one in ours.store.facts(Segment)]
    assert len(changed) == 2  # that of `askwise new`, and that of the fast encoder
    assert "encoder" in changed[1]
