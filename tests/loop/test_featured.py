"""A learner with a frozen encoder works on its features, and nobody can tell but by the clock."""

import os
import shutil
import signal

import numpy as np
import pytest
import torch
from small_run import in_child, outcome
from torch import nn

import askwise as aw
from askwise.errors import InputError
from askwise.loop import assemble
from askwise.loop.featured import head_of
from askwise.loop.plan import make
from askwise.seeding import derive
from askwise.store.facts import Question, Segment
from askwise.store.sql import SqlStore

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, size=100)
PICTURES = (RNG.normal(size=(100, 1, 10, 10)) + LABELS[:, None, None, None]).astype(np.float32)
WORDS = [
    f"{'abc'[label]}{RNG.integers(6)} {'abc'[label]}{RNG.integers(6)} x{n}" for n, label in enumerate(LABELS)
]
FAST = aw.Training(epochs=4, batch_size=8, lr=3e-3)


class Seen(nn.Flatten):
    """What an encoder looks at, counted in all its copies."""

    count = 0

    def forward(self, inputs):
        Seen.count += len(inputs)
        return super().forward(inputs)


def image_network(seed=0, **options) -> nn.Module:
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3), Seen())
    return aw.nets.encoded(encoder, aw.nets.text_head(features=64, classes=3, hidden=16), **options)


def text_network() -> nn.Module:
    torch.manual_seed(0)
    encoder = aw.nets.tiny_encoder(vocabulary=100, width=12)
    return aw.nets.encoded(encoder, aw.nets.text_head(features=12, classes=3, hidden=16))


def tokens(texts: list[str]) -> torch.Tensor:
    return aw.nets.tiny_encoder(vocabulary=100).tokens(texts, length=5)


KINDS = {
    "pictures": (lambda: aw.pool.arrays(PICTURES[:80]), image_network),
    "texts": (lambda: aw.pool.text(WORDS[:80], encode=tokens), text_network),
}


def begun(kind="pictures", store=None, **changes) -> tuple[aw.Learner, dict[str, int]]:
    make_pool, network = KINDS[kind]
    pool = make_pool()
    truth = dict(zip(pool.ids, LABELS[:80].tolist(), strict=True))
    held = dict(list(truth.items())[60:])
    inputs = torch.from_numpy(PICTURES[80:]) if kind == "pictures" else tokens(WORDS[80:])
    choices = {
        "pool": pool,
        "classes": 3,
        "posterior": aw.bbb(last=1),
        "initial": 6,
        "batch": 4,
        "budget": 10,
        "draws": 10,
        "validation": held,
        "test": (inputs, LABELS[80:].tolist()),
        "training": FAST,
        "calibrate": False,
    }
    return aw.Learner(changes.pop("network", None) or network(), store=store, **choices | changes), truth


def finished(**changes):
    """Questions, metrics, predictions and the learner's inside after a whole run."""
    learner, truth = begun(**changes)
    with learner:
        learner.run(oracle=lambda question: truth[question.id])
        kind = changes.get("kind", "pictures")
        inputs = torch.from_numpy(PICTURES[80:]) if kind == "pictures" else tokens(WORDS[80:])
        asked = [(q.id, q.score) for q in learner.store.facts(Question)]
        return asked, learner.rounds(), learner.predict(inputs), learner.setting


@pytest.mark.parametrize(
    ("kind", "posterior"),
    [("pictures", "bbb"), ("pictures", "mc_dropout"), ("texts", "bbb"), ("texts", "vogn")],
)
def test_picks_metrics_and_predictions_are_those_of_the_whole_network(kind, posterior, monkeypatch):
    config = {"bbb": aw.bbb(last=2), "mc_dropout": aw.mc_dropout(), "vogn": aw.vogn()}[posterior]
    asked, rounds, found, setting = finished(kind=kind, posterior=config)
    assert setting.network.on_features
    monkeypatch.setattr(assemble, "head_of", lambda *_: None)
    asked_plain, rounds_plain, found_plain, plain = finished(kind=kind, posterior=config)
    assert not plain.network.on_features
    assert [name for name, _ in asked] == [name for name, _ in asked_plain]
    assert np.allclose([s for _, s in asked], [s for _, s in asked_plain], atol=1e-5)
    for one, two in zip(rounds, rounds_plain, strict=True):
        for part in ("validation", "test"):
            assert one.metrics[part]["nll"] == pytest.approx(two.metrics[part]["nll"], abs=1e-5)
    for name in ("mean", "total", "epistemic", "aleatoric"):
        assert torch.allclose(getattr(found, name), getattr(found_plain, name), atol=1e-5)


@pytest.mark.parametrize("select", ["k_center", "badge"])
def test_selections_by_features_and_draws_pick_the_same(select, monkeypatch):
    asked = finished(kind="texts", select=select, select_options={})[0]
    monkeypatch.setattr(assemble, "head_of", lambda *_: None)
    assert asked == finished(kind="texts", select=select, select_options={})[0]


def test_the_encoder_sees_every_item_once(folder):
    Seen.count = 0
    options = {"engine_options": {"processes": 1}}
    finished(store=folder / "run.db", **options)
    first = Seen.count
    assert first < 400  # 100 items, some of them in batches that were not full
    Seen.count = 0
    with begun(store=folder / "run.db", budget=14, **options)[0] as again:
        again.run(oracle=lambda question: 0)
    assert Seen.count < 5 * 32 + 10  # one proof for each part, and the outputs' shape
    assert (folder / "run.db.features").is_dir()


def test_a_checkpoint_holds_the_whole_network(folder):
    _, rounds, found, _ = finished(store=folder / "run.db")
    network = image_network(seed=3)
    fitted = aw.load(folder / "run.db.checkpoints" / rounds[-1].checkpoint, network=network)
    assert torch.equal(fitted.network.encoder[0].weight, image_network().encoder[0].weight)
    seed = derive(0, "draw", len(rounds))
    whole = aw.predict(fitted, torch.from_numpy(PICTURES[80:]), draws=10, seed=seed)
    assert torch.allclose(whole.mean, found.mean, atol=1e-5)
    rounds = finished(kind="texts", store=folder / "texts.db")[1]
    rebuilt = aw.load(folder / "texts.db.checkpoints" / rounds[-1].checkpoint)  # by its recipe alone
    assert not rebuilt.network.on_features
    assert aw.predict(rebuilt, tokens(WORDS[:3]), draws=5).mean.shape == (3, 3)


def test_a_run_that_is_opened_again_goes_on_to_the_bit(folder):
    whole = finished(store=folder / "whole.db", calibrate=True)
    finished(store=folder / "parts.db", budget=6, calibrate=True)
    last = finished(store=folder / "parts.db", calibrate=True, exact=True)
    assert outcome(folder / "whole.db") == outcome(folder / "parts.db")
    assert torch.equal(whole[2].mean, last[2].mean)


def test_killed_anywhere_it_goes_on_to_the_bit(folder):
    finished(store=folder / "whole.db")
    whole = outcome(folder / "whole.db")

    def begin(left: list[int]):
        def on_write(point: str) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        finished(store=SqlStore(folder / "killed.db", on_write=on_write))

    killed = 0
    for number in (9, 14, 18):
        killed += in_child(lambda number=number: begin([number])) == -signal.SIGKILL
        finished(store=folder / "killed.db")
        assert outcome(folder / "killed.db") == whole, number
        for path in folder.glob("killed.db*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert killed == 3


def test_a_cache_that_is_damaged_or_deleted_changes_nothing(folder):
    finished(store=folder / "whole.db", budget=14)
    finished(store=folder / "run.db", budget=6)
    (path,) = (folder / "run.db.features").glob("*.rows")
    content = bytearray(path.read_bytes())
    content[100::97] = bytes(byte ^ 85 for byte in content[100::97])
    path.write_bytes(content)
    finished(store=folder / "run.db", budget=10)
    shutil.rmtree(folder / "run.db.features")
    finished(store=folder / "run.db", budget=14)
    assert outcome(folder / "whole.db") == outcome(folder / "run.db")


def test_another_encoder_is_noticed_and_the_model_trained_anew(folder):
    finished(store=folder / "run.db", budget=6)
    with pytest.raises(InputError, match="exact continuation needs the same encoder"):
        begun(store=folder / "run.db", network=image_network(seed=1), exact=True)
    learner, truth = begun(store=folder / "run.db", network=image_network(seed=1))
    with learner:
        assert learner.store.facts(Segment)[-1].changed == ["encoder"]
        with pytest.raises(InputError, match="there is no model yet"):  # of these features
            learner.predict(torch.from_numpy(PICTURES[80:]))
        count = len(learner.rounds())
        learner.ask()
        assert len(learner.rounds()) == count + 1
        learner.run(oracle=lambda question: truth[question.id])
        model = learner.fitted
    assert torch.equal(model.network.encoder[0].weight, image_network(seed=1).encoder[0].weight)


def test_items_that_are_added_have_features_too(folder):
    learner, _ = begun(store=folder / "run.db")
    with learner:
        new = learner.add(aw.pool.arrays(PICTURES[80:], ids=range(20)))
        assert new == [str(number) for number in range(20)]
        assert learner.pool.read(new).inputs.shape == (20, 64)
        assert learner.status().counts.items == 80 - 20 + 20


def plan(**choices):
    return make({"classes": ["a", "b", "c"], **choices})


WHOLE = {
    "an encoder that learns": (lambda: image_network(frozen=False), {}),
    "uncertainty in the encoder": (image_network, {"posterior": {"name": "bbb", "all": True}}),
    "uncertainty from the front": (image_network, {"posterior": {"name": "bbb", "first": 1}}),
    "augmented pictures": (image_network, {"training": {"augment": ["flip"]}}),
    "no encoder at all": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(100, 3)), {}),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_reaches_into_the_encoder_trains_the_whole_network(case):
    network, choices = WHOLE[case]
    assert head_of(network(), torch.zeros(1, 10, 10), plan(**choices)) is None


def test_an_encoder_with_other_outputs_or_shared_weights_stays_in_the_network():
    like, head = torch.zeros(4), nn.Linear(4, 3)
    doubled = aw.nets.encoded(nn.Identity(), head.double())
    assert head_of(doubled, like.double(), plan()) is None
    deep = aw.nets.encoded(nn.Unflatten(1, (2, 2)), nn.Sequential(nn.Flatten(), nn.Linear(4, 3)))
    assert head_of(deep, like, plan()) is None
    layer = nn.Linear(4, 4)
    shared = aw.nets.encoded(layer, nn.Sequential(layer, nn.Linear(4, 3)))
    assert head_of(shared, like, plan()) is None
    assert head_of(aw.nets.encoded(nn.Linear(4, 4), nn.Linear(4, 3)), like, plan()) is not None


@pytest.mark.parametrize(
    "name", ["point", "mc_dropout", "laplace", "vbll", "swag", "ensemble", "vogn", "ivon"]
)
def test_posteriors_that_leave_the_encoder_alone_work_on_features(name):
    assert head_of(image_network(), torch.zeros(1, 10, 10), plan(posterior={"name": name})) is not None


def test_progress_says_how_far_the_encoder_is():
    heard = []
    learner, _ = begun(progress=lambda *what: heard.append(what))
    learner.close()
    assert heard == [("encoding", 20, 20)] * 2  # the validation part, and the test part
