"""What the loop does for tags, numbers and masks, and the one line that it says where labels do not fit."""

import numpy as np
import pytest
import torch
from task_runs import IDS, LABELS, MADE_OF, TASKS, TRUTH, items, learner, network

from askwise import tasks
from askwise.acquire import ACQUISITIONS
from askwise.errors import CorruptError, InputError
from askwise.loop.decide import Stop
from askwise.loop.plan import make
from askwise.selection import SELECTIONS
from askwise.store.facts import Answer, Question, Round
from askwise.store.labels import Mask, Numbers, Tags
from askwise.tasks import named


@pytest.mark.parametrize("task", TASKS)
def test_every_task_runs_to_its_budget_and_measures_every_round(task):
    run = learner(task)
    assert run.run(oracle=TRUTH[task]) == Stop("the budget of 10 labels is spent")
    for one in run.store.facts(Round):
        assert set(named(task).measures) <= set(one.metrics["test"])
    asked = [question for question in run.store.facts(Question) if question.round]
    kinds = {"classification": int, "multilabel": Tags, "regression": Numbers, "segmentation": type(None)}
    assert all(isinstance(question.guess, kinds[task]) for question in asked)


@pytest.mark.parametrize("task", TASKS)
def test_every_acquisition_and_selection_serves_the_task_or_is_refused_by_name(task):
    for table, key in ((ACQUISITIONS, "acquire"), (SELECTIONS, "select")):
        for name, record in table.items():
            values = {"task": task, **MADE_OF[task], key: name}
            if task in record.tasks:
                make(values)
            else:
                with pytest.raises(InputError, match=f"'{name}' does not serve {task}; choose one of: "):
                    make(values)


@pytest.mark.parametrize("select", ["gaussian_batchbald", "lcmd", "k_center", "power"])
def test_selections_of_numbers_run(select):
    run = learner("regression", select=select, budget=7)
    assert isinstance(run.run(oracle=TRUTH["regression"]), Stop)
    assert len({question.id for question in run.store.facts(Question)}) == 7


def test_a_task_may_come_with_options_and_comes_back_with_them():
    run = learner("multilabel", task=tasks.multilabel(reduce="sum", threshold=0.3))
    run.run(oracle=TRUTH["multilabel"])
    assert run.fitted.task.options == {"reduce": "sum", "threshold": 0.3}
    assert run.status().plan.task == {"name": "multilabel", "reduce": "sum", "threshold": 0.3}
    assert run.fitted.classes == ("joy", "anger", "love")


def test_tags_are_told_in_every_way_that_people_write_them():
    run = learner("multilabel")
    told = {
        IDS[0]: ["joy", "love"],
        IDS[1]: {"anger"},
        IDS[2]: {"joy": True, "anger": None, "love": False},
        IDS[3]: np.array([0, 1, -1]),
        IDS[4]: "joy|?love",
        IDS[5]: [],
        IDS[6]: "joy, anger",
    }
    found = {answer.id: answer.label for answer in run.tell(told)}
    own = [((0, 2),), ((1,),), ((0,), (1,)), ((1,), (2,)), ((0,), (2,)), ((),), ((0, 1),)]
    assert list(found.values()) == [Tags(*one) for one in own]


NAN = float("nan")
BAD = [
    ("multilabel", ["joy", "jog"], "a tag of the label of 'item-01' is 'jog', which is no tag; did you mean"),
    ("multilabel", 3, "must be a collection of tags"),
    ("multilabel", torch.ones(2), r"array of shape \(2,\); give 0, 1 or -1 for each of the 3 tags"),
    ("multilabel", {"joy": 0.4}, "tag 'joy' is 0.4; write 1 or True"),
    ("regression", NAN, "must be a number, finite, not nan"),
    ("regression", "tall", "must be a number, not 'tall'"),
    ("regression", [1.0, 2.0], "must be a number, and is 2 numbers"),
    ("regression", True, "must be a number, finite"),
    ("segmentation", np.zeros((6, 6), int), "a mask of 6 x 6 pixels, and the network's outputs are 6 x 5"),
    ("segmentation", np.full((6, 5), 2), "has 2 at row 0, column 0, outside the 2 classes 0 to 1"),
    ("segmentation", np.full((6, 5), -1), "has a pixel of -1"),
    ("segmentation", np.zeros((6, 5)), "must be a mask of whole numbers"),
    ("segmentation", "no-such.png", "names the mask 'no-such.png', and there is no such file"),
    ("segmentation", 1, "must be a mask, an array"),
    ("classification", ["a"], "must be a class name or number"),
    ("classification", 0.5, "must be a class name or number"),
]


@pytest.mark.parametrize(("task", "value", "match"), BAD)
def test_a_label_that_does_not_fit_is_refused_in_one_line_and_nothing_is_stored(task, value, match, tmp_path):
    run = learner(task, tmp_path / "run.db")
    with pytest.raises(InputError, match=match) as error:
        run.tell({IDS[0]: LABELS[task][0], IDS[1]: value})
    assert "\n" not in str(error.value)
    assert not run.store.facts(Answer)
    assert not (tmp_path / "run.db.masks").exists()
    run.close()


@pytest.mark.parametrize(
    ("task", "changes", "match"),
    [
        ("regression", {"classes": ["a", "b"]}, "regression takes numbers, not classes"),
        ("multilabel", {"tags": None}, "name the tags: tags = "),
        ("regression", {"calibrate": True}, "calibrate tempers probabilities, and regression has none"),
        ("multilabel", {"initial": {"per_class": 1}}, "initial per class needs one class per item"),
        ("multilabel", {"tags": ["a", "b"]}, "the network has 3 outputs, and there are 2 tags"),
        ("regression", {"numbers": ["x", "y"]}, "the network has 2 outputs, and should have 4 for 2 numbers"),
        ("segmentation", {"classes": ["a", "b", "c"]}, "the network has 2 outputs, and there are 3 classes"),
        ("segmentation", {"pool": items("classification")}, "segmentation needs|cannot take|network"),
        ("multilabel", {"task": "multilable"}, "unknown task 'multilable'; did you mean 'multilabel'"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(task, changes, match):
    with pytest.raises(InputError, match=match):
        learner(task, **changes)


def test_thaw_needs_an_encoder():
    with pytest.raises(InputError, match="thaw lets an encoder learn, and the plan names none"):
        make({"task": "multilabel", "tags": ["a"], "thaw": 2})
    assert make({"task": "multilabel", "tags": ["a"], "thaw": 2, "encoder": "minilm"}).thaw == 2


def test_a_store_of_one_task_is_not_taken_for_another(tmp_path):
    learner("regression", tmp_path / "run.db").close()
    with pytest.raises(InputError, match="holds a run of regression, and the plan is of multilabel"):
        learner("multilabel", tmp_path / "run.db")


def test_tags_cannot_join_once_answers_say_nothing_of_them(tmp_path):
    with learner("multilabel", tmp_path / "run.db") as run:
        run.tell({IDS[0]: ["joy"]})
    more = torch.nn.Linear(4, 4)
    with pytest.raises(InputError, match="has answers that say nothing of the tag 'fear'"):
        learner(
            "multilabel", tmp_path / "run.db", tags=["joy", "anger", "love", "fear"], network=more, test=None
        )


def test_predictions_and_guesses_of_numbers_are_in_their_own_units():
    run = learner("regression", budget=10)
    run.run(oracle=TRUTH["regression"])
    found = run.predict(items("regression")[:5])
    assert 150 < found.mean.mean() < 450
    asked = [q for q in run.store.facts(Question) if isinstance(q.guess, Numbers)]
    assert all(150 < q.guess.values[0] < 450 for q in asked)
    assert run.rounds()[-1].metrics["test"]["rmse"] < 200


def test_masks_are_kept_beside_the_store_and_a_changed_one_is_noticed(tmp_path):
    with learner("segmentation", tmp_path / "run.db") as run:
        run.run(oracle=TRUTH["segmentation"])
        labels = [answer.label for answer in run.store.facts(Answer)]
    kept = sorted(path.name for path in (tmp_path / "run.db.masks").iterdir())
    assert kept == sorted({label.file for label in labels})
    (tmp_path / "run.db.masks" / labels[0].file).write_bytes(b"other")
    with (
        learner("segmentation", tmp_path / "run.db", budget=12) as run,
        pytest.raises(CorruptError, match=f"mask {labels[0].file} is not the one that was told"),
    ):
        run.run(oracle=TRUTH["segmentation"])


def test_a_file_answers_every_task(tmp_path):
    from PIL import Image

    for name, mask in zip(IDS, LABELS["segmentation"].numpy(), strict=False):
        Image.fromarray(mask).save(tmp_path / f"{name}.png")
    cells = {
        "multilabel": [
            "|".join(tag for tag, on in zip(MADE_OF["multilabel"]["tags"], row, strict=True) if on) or "none"
            for row in LABELS["multilabel"].tolist()
        ],
        "regression": [str(value) for (value,) in LABELS["regression"].tolist()],
        "segmentation": [f"{name}.png" for name in IDS],
    }
    for task, column in cells.items():
        path = tmp_path / f"{task}.csv"
        lines = [f"{name},{cell}" for name, cell in zip(IDS, column, strict=False)]
        path.write_text("\n".join(["id,label", *lines]))
        by_file, by_truth = learner(task), learner(task)
        by_file.run(oracle=path)
        by_truth.run(oracle=TRUTH[task])
        assert [r.weights for r in by_file.rounds()] == [r.weights for r in by_truth.rounds()]


def test_control_the_labels_matter_to_the_weights():
    run = learner("regression")
    run.run(oracle={name: value + 1 for name, value in zip(IDS, LABELS["regression"] ** 2, strict=False)})
    other = learner("regression")
    other.run(oracle=TRUTH["regression"])
    assert run.rounds()[-1].weights != other.rounds()[-1].weights


def test_a_mask_as_label_is_written_by_its_hash():
    run = learner("segmentation")
    (answer,) = run.tell({IDS[0]: LABELS["segmentation"][0]})
    assert isinstance(answer.label, Mask)
    (again,) = run.tell({IDS[0]: LABELS["segmentation"][0].long()})
    assert again == answer
    assert len(run.store.facts(Answer)) == 1


def test_a_network_of_another_kind_is_named():
    with pytest.raises(InputError, match="regression with learned noise needs means and log-variances"):
        learner("regression", network=network("classification"))
