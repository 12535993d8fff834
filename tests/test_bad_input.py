"""Bad input gets one clear line: what was wanted, what was found, what to do.

Run in a process of its own, without the shape checks that the tests switch on, as a user would.
"""

import json
import subprocess
import sys

import pytest

CASES = {
    "T = 0": ("aw.log_probs(f, x, draws=0)", "draws must be a whole number of at least 1, not 0"),
    "half a draw": ("aw.log_probs(f, x, draws=2.5)", "draws must be a whole number of at least 1, not 2.5"),
    "no items": ("aw.log_probs(f, x[:0])", "at least one item [N, ...]; their shape is [0, 6]"),
    "wrong shape": ("aw.log_probs(f, x[:, :5])", "cannot take an input of shape [1, 5] and type float32"),
    "wrong dtype": ("aw.log_probs(f, x.long())", "type int64"),
    "a list": ("aw.log_probs(f, x.tolist())", "inputs must be a tensor, an array [N, ...], a torch Dataset"),
    "answers in a list": (
        "aw.Learner(net, pool=x, classes=4).tell(['a'])",
        "tell takes labels by id, {question.id: label}, not a list",
    ),
    "a softmax at the end": (
        "aw.fit(torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Softmax(1)), (x, y))",
        "the network's outputs are probabilities, which sum to 1; leave its softmax out",
    ),
    "one output": ("aw.fit(torch.nn.Linear(6, 1), (x, y * 0))", "one output for each class, at least 2"),
    "a network for pictures": (
        "aw.fit(aw.nets.segnet_basic(), (x, y), task='segmentation')",
        "the network cannot take an input of shape [1, 6]",
    ),
    "too many processes": (
        "aw.score_pool(f, x, 'bald', engine=Local(processes=5000))",
        "processes = 5000 cannot be meant; this machine has",
    ),
    "too many threads": ("Local(threads=10**6)", "threads = 1000000 cannot be meant"),
    "too many draws": ("aw.predict(f, x, draws=10**12)", "draws = 1000000000000 cannot be meant"),
    "a NUL in a name": ("aw.Learner(net, pool=x, classes=4, store='a\\0.db')", "has a NUL in its name"),
    "a folder as a pool": (
        "aw.Learner(net, pool='photos', classes=4)",
        "say what 'photos' holds: aw.pool.images(...)",
    ),
    "a number as training": (
        "aw.fit(net, (x, y), training=3)",
        "training is a Training or a table of its options",
    ),
    "a plain network": ("aw.predict(net, x)", "a fitted model is wanted, not a plain network; make one with"),
    "a class": (
        "aw.fit(torch.nn.Linear, (x, y))",
        "network is the class Linear; pass an instance: Linear(...)",
    ),
    "no network": ("aw.fit('mlp', (x, y))", "network must be a torch module (nn.Module), not str"),
    "a lazy layer": ("aw.fit(torch.nn.Sequential(torch.nn.LazyLinear(4)), (x, y))", "has no shape yet"),
    "no CUDA here": ("aw.fit(net, (x, y), device='cuda:99')", "device 'cuda:99' is not available"),
    "a device that computes nothing": ("aw.fit(net, (x, y), device='meta')", "cannot compute"),
    "a score of the wrong shape": (
        "aw.score_pool(f, x, lambda lp: lp)",
        "must give a tensor [128], one number for each item, and gave [128, 100, 4]",
    ),
    "seed abc": ("aw.log_probs(f, x, seed='abc')", "a seed is a whole number, not 'abc'"),
    "NaN item": ("aw.score_pool(f, x * float('nan'), 'bald')", "item at position 0 is not a number"),
    "unknown acquisition": (
        "aw.score_pool(f, x, 'bold')",
        "unknown acquisition 'bold'; did you mean 'bald'?",
    ),
    "unknown option": ("aw.score_pool(f, x, 'top_u', v=3)", "'v'"),
    "probabilities": ("aw.score('bald', lp.exp())", "holds probabilities; pass their logarithm"),
    "integer log_probs": ("aw.score('bald', lp.long())", "must be floating point, not int64"),
    "two axes": ("aw.score('bald', lp[0])", "at least 3 axes"),
    "no draws": ("aw.score('bald', lp[:, :0])", "no draws"),
    "NaN log_probs": ("aw.score('bald', lp * float('nan'))", "NaN"),
    "logits": ("aw.score('bald', lp + 3)", "not normalised"),
    "unknown selection": ("aw.select('topk', scores=s, count=2)", "did you mean 'top_k'?"),
    "count > N": ("aw.select('top_k', scores=s, count=99)", "99"),
    "count 0": ("aw.select('top_k', scores=s, count=0)", "count"),
    "NaN scores": ("aw.select('top_k', scores=s * float('nan'), count=2)", "finite"),
    "missing scores": ("aw.select('power', log_probs=lp, count=2)", "scores"),
    "no such layer": ("aw.fit(net, (x, y), posterior=aw.bbb(layers=['dense9']))", "unknown layer 'dense9'"),
    "too many layers": ("aw.fit(net, (x, y), posterior=aw.bbb(last=9))", "last=9 wants 9 layers"),
    "two placements": ("aw.bbb(last=1, first=1)", "bbb takes one placement, not last and first"),
    "unknown noise": ("aw.bbb(noise='lokal')", "unknown noise 'lokal'; did you mean 'local'?"),
    "negative weight": ("aw.bbb(kl_weight=-1)", "kl_weight must be a finite number of at least 0, not -1"),
    "no dropout": ("aw.fit(plain, (x, y), posterior=aw.mc_dropout())", "needs a network that calls dropout"),
    "label outside": ("aw.fit(net, (x, y + 2))", "label 4 at position 2 is outside the 4 classes 0 to 3"),
    "float labels": ("aw.fit(net, (x, y.float()))", "labels must be whole numbers from 0 to 3, not float32"),
    "multi-hot labels": (
        "aw.fit(net, (x, (x[:, :4] > 0).long()))",
        "labels must have one axis [N], not [40, 4]; for one-hot rows use y.argmax(1), for several tags",
    ),
    "soft labels": (
        "aw.fit(net, (x, torch.full((40, 4), 0.5)))",
        "row 0 of the soft labels sums to 2, not to 1",
    ),
    "NaN targets": (
        "aw.fit(net, (x, x[:, :4] / 0), task=aw.tasks.regression(tau=1.0))",
        "the target at position 0 is not finite; leave that item out",
    ),
    "no log-variances": (
        "aw.fit(net, (x, x[:, :4]), task='regression')",
        "gives 4 numbers per item and should give 8 (means, then log-variances)",
    ),
    "unknown tag": (
        "aw.fit(net, (x, torch.full((40, 4), 2)), task='multilabel')",
        "tag 0 of the item at position 0 is 2; a tag is 0 or 1",
    ),
    "too many tags": (
        "aw.fit(net, (x, torch.zeros(40, 9)), task='multilabel')",
        "labels have 9 tags, and the network gives 4",
    ),
    "classes for tags": ("aw.fit(net, (x, y), task='multilabel')", "0 or 1 for each tag [N, 4], not [40]"),
    "masks of another size": (
        "aw.fit(masks, (x.view(40, 1, 2, 3), torch.zeros(40, 4, 3).long()), task='segmentation')",
        "masks are 4 x 3 and the network's outputs 2 x 3; bring them to one size",
    ),
    "void pixels": (
        "aw.fit(masks, (x.view(40, 1, 2, 3), torch.full((40, 2, 3), 255)), task='segmentation')",
        "is outside the 4 classes 0 to 3; for unknown pixels say ignore=255",
    ),
    "logits for masks": ("aw.fit(net, (x, y), task='segmentation')", "gives logits [N, C, H, W], not [1, 4]"),
    "balanced numbers": (
        "aw.fit(net, (x, x[:, :4]), task=aw.tasks.regression(tau=1.0), "
        "training=aw.Training(balance='weights'))",
        "regression has no classes to balance",
    ),
    "unknown augmentation": ("aw.Training(augment='flop')", "did you mean 'flip'?"),
    "flipped vectors": (
        "aw.fit(net, (x, y), training=aw.Training(augment='flip'))",
        "flip moves images [n, channels, H, W], not",
    ),
    "nothing to measure": (
        "aw.evaluate(f, x)",
        "data must be a pair (x, y) or a torch Dataset of pairs, not Tensor",
    ),
    "text labels": ("aw.fit(net, (x, ['a'] * 40))", "labels must be numbers"),
    "lengths differ": ("aw.fit(net, (x, y[:5]))", "inputs and labels differ in length: 40 and 5"),
    "nothing to learn": ("aw.fit(net, (x[:0], y[:0]))", "no labelled examples"),
    "no pair": ("aw.fit(net, x)", "data must be a pair (x, y) or a torch Dataset of pairs, not Tensor"),
    "unknown task": ("aw.fit(net, (x, y), task='regresion')", "unknown task 'regresion'"),
    "unknown posterior": (
        "aw.fit(net, (x, y), posterior='bb')",
        "unknown posterior 'bb'; did you mean 'bbb'?",
    ),
    "unknown start": ("aw.fit(net, (x, y), start='scrach')", "did you mean 'scratch'?"),
    "unknown device": ("aw.fit(net, (x, y), device='gpu')", "unknown device 'gpu'"),
    "no epochs": ("aw.Training(epochs=0)", "epochs must be a whole number of at least 1, not 0"),
    "not a model": ("aw.load('/')", "is not a saved model"),
    "unknown name": ("aw.bald", "askwise has no 'bald'"),
}

PROGRAM = """
import json, sys, torch, askwise as aw
from askwise.engine import Local
torch.manual_seed(0)
x, y = torch.randn(40, 6), torch.arange(40) % 4
masks = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 1))
net, plain = aw.nets.mlp(6, 4, hidden=(8,), dropout=0.5), aw.nets.mlp(6, 4, hidden=(8,))
f = aw.fit(net, (x, y), training=aw.Training(epochs=1))
lp = aw.log_probs(f, x, draws=3)
s = aw.score("bald", lp)
found = {}
for name, code in json.load(sys.stdin).items():
    try:
        exec(code)
        found[name] = ["nothing", ""]
    except Exception as error:
        found[name] = [type(error).__name__, str(error)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    codes = json.dumps({name: code for name, (code, _) in CASES.items()})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=codes, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_in_one_clear_line(found: dict[str, list[str]], name: str) -> None:
    kind, message = found[name]
    assert kind in ("InputError", "AttributeError"), message
    assert CASES[name][1] in message
    assert "\n" not in message
