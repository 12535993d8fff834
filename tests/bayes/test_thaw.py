"""Thaw: the encoder learns for a few epochs, is frozen, and the posterior learns on its features."""

import pytest
import torch

import askwise as aw
from askwise.errors import InputError

RNG = torch.Generator().manual_seed(0)
TOKENS = torch.randint(1, 50, (40, 6), generator=RNG)
TAGS = (torch.rand(40, 3, generator=RNG) > 0.5).float()
HOW = aw.Training(epochs=4, batch_size=8)


def network(**options):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return aw.nets.encoded(aw.nets.tiny_encoder(vocabulary=50, width=5), aw.nets.linear(5, 3), **options)


def fitted(net, **options):
    how = {"posterior": aw.vogn(), "task": "multilabel", "training": HOW, "start": "scratch"} | options
    return aw.fit(net, (TOKENS, TAGS), **how)


def moved(net, model):
    before, after = net.encoder.state_dict(), model.network.encoder.state_dict()
    return any(not torch.equal(before[name], after[name]) for name in before)


def test_the_encoder_learns_and_is_frozen_afterwards():
    net = network(thaw=2, thaw_lr=1e-2)
    model = fitted(net)
    assert moved(net, model)
    assert model.network.frozen
    assert not any(p.requires_grad for p in model.network.encoder.parameters())
    assert not moved(network(), fitted(network()))  # the control: without thaw it stays
    assert aw.predict(model, TOKENS, draws=3).mean.shape == (40, 3, 2)


def test_the_posterior_sees_each_item_once(monkeypatch):
    net = network(thaw=1)
    seen = []
    kind = type(net.encoder)
    plain = kind.forward
    monkeypatch.setattr(kind, "forward", lambda self, x: seen.append(len(x)) or plain(self, x))
    fitted(net, training=aw.Training(epochs=30, batch_size=40))
    learning = sum(size for size in seen if size == 40)
    assert learning <= 2 * 40  # its one epoch; thirty of the posterior would be 1,200
    frozen = []
    monkeypatch.setattr(kind, "forward", lambda self, x: frozen.append(len(x)) or plain(self, x))
    fitted(network(), training=aw.Training(epochs=30, batch_size=40))
    assert sum(size for size in frozen if size == 40) >= 30 * 40  # the control


def test_it_repeats_to_the_bit_and_comes_back_from_the_disk(tmp_path):
    model = fitted(network(thaw=2))
    assert model.digest() == fitted(network(thaw=2)).digest()
    model.save(tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again.network.thaw == 2
    assert torch.equal(aw.predict(again, TOKENS, draws=3).mean, aw.predict(model, TOKENS, draws=3).mean)


def test_a_model_that_goes_on_keeps_its_encoder():
    net = network(thaw=2, thaw_lr=1e-2)
    first = fitted(net)
    second = fitted(net, start=first)
    assert not moved(first.network, second)


def test_a_loop_thaws_in_every_round():
    ids = [f"t{n}" for n in range(40)]
    learner = aw.Learner(
        network(thaw=1, thaw_lr=1e-2), pool=aw.pool.arrays(TOKENS, ids=ids), task="multilabel",
        tags=["a", "b", "c"], posterior="vogn", acquire="top_u", initial=6, batch=4, budget=14, draws=4,
        training=HOW,
    )  # fmt: skip
    learner.run(oracle=dict(zip(ids, TAGS, strict=True)))
    assert len(learner.rounds()) == 3
    assert moved(network(thaw=1), learner.fitted)


@pytest.mark.parametrize("options", [{"thaw": -1}, {"thaw": 1, "frozen": False}, {"thaw": 1, "thaw_lr": 0.0}])
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises(InputError, match="thaw"):
        network(**options)
