import pytest
import torch
from torch import nn

import askwise as aw
from askwise.nets import encoded, frozen, text_head, tiny_encoder


def network(**options) -> nn.Module:
    return encoded(
        tiny_encoder(vocabulary=30, width=8), text_head(features=8, classes=2, hidden=16), **options
    )


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """Texts of two kinds of words, and which kind it is."""
    labels = torch.arange(40) % 2
    words = torch.randint(1, 15, (40, 5), generator=torch.Generator().manual_seed(0))
    return words + 14 * labels[:, None], labels


def test_it_is_the_head_of_the_encoder():
    whole = network().eval()
    tokens = torch.randint(0, 30, (3, 4))
    assert torch.equal(whole(tokens), whole.head(whole.encoder(tokens)))


def test_a_frozen_encoder_does_not_learn_and_the_head_does():
    whole = network()
    fitted = aw.fit(whole, sentences(), posterior=aw.mc_dropout(), training=aw.Training(epochs=2))
    before, after = whole.state_dict(), fitted.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"head.dense1.weight", "head.dense1.bias", "head.dense2.weight", "head.dense2.bias"}


def test_an_encoder_that_is_not_frozen_learns():
    whole = network(frozen=False)
    fitted = aw.fit(whole, sentences(), posterior=aw.point(), training=aw.Training(epochs=2))
    name = "encoder.embedding.weight"
    assert not torch.equal(whole.state_dict()[name], fitted.network.state_dict()[name])


def test_first_both_learn_and_then_the_head_alone():
    training = aw.Training(epochs=20, batch_size=8, lr=0.01)
    first = aw.fit(network(frozen=False), sentences(), posterior=aw.point(), training=training)
    second = aw.fit(frozen(first.network), sentences(), posterior=aw.bbb(last=1), training=training)
    kept, after = first.network.encoder.embedding.weight, second.network.encoder.embedding.weight
    assert torch.equal(kept, after)
    assert first.network.encoder.embedding.weight.requires_grad  # the first one is left as it was
    x, y = sentences()
    assert (aw.predict(second, x, draws=10).mean.argmax(1) == y).float().mean() > 0.9


@pytest.mark.parametrize("mode", [True, False])
def test_a_frozen_encoder_stays_in_eval_mode(mode):
    whole = encoded(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), nn.Linear(4, 2), frozen=False)
    assert whole.train(mode).encoder.training is mode
    whole.freeze()
    whole.train(mode)
    assert not any(module.training for module in whole.encoder.modules())
    assert whole.head.training is mode


def test_dropout_in_a_frozen_encoder_is_not_drawn():
    from askwise.bayes.program import dropout

    encoder = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    free = encoded(encoder, text_head(features=4), frozen=False)
    assert len(dropout.find(free, torch.rand(1, 4))) == 2
    assert len(dropout.find(frozen(free), torch.rand(1, 4))) == 1


def test_a_frozen_network_is_built_again_frozen():
    recipe = frozen(network(frozen=False)).recipe
    assert recipe["options"]["frozen"] is True
    again = aw.nets.build(recipe["name"], **recipe["options"])
    assert again.frozen
    assert not again.encoder.embedding.weight.requires_grad


def test_a_saved_model_needs_no_network_to_be_loaded(tmp_path):
    fitted = aw.fit(network(), sentences(), posterior=aw.bbb(last=1), training=aw.Training(epochs=1))
    fitted.save(tmp_path / "model")
    x, _ = sentences()
    again = aw.load(tmp_path / "model")
    assert torch.equal(aw.predict(again, x, draws=3).mean, aw.predict(fitted, x, draws=3).mean)
