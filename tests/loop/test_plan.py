import pytest
from pydantic import ValidationError

from askwise.errors import InputError
from askwise.loop.plan import Plan, make
from askwise.loop.plan_rules import refuse_unnamed
from askwise.runs.plan_file import override, read
from askwise.train import Training

TOML = """
classes = ["cat", "dog"]
acquire = "bald"
batch = 5
initial = 10
network = "lenet5"

[training]
epochs = 20
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "plan.toml").write_text(TOML)
    return tmp_path / "plan.toml"


def test_a_key_that_says_how_data_are_read_is_shown_its_place():
    with pytest.raises(InputError, match=r"column says how data are read; write data_options = \{column = "):
        make({"classes": 2, "data": "pool.csv", "column": "text"})
    with pytest.raises(InputError, match="unknown key in the plan 'colour'"):  # the control
        make({"classes": 2, "data": "pool.csv", "colour": "text"})


def test_test_data_are_a_number_ids_or_a_file_and_a_first_set_is_no_file():
    given = [
        make({"classes": 2, "test": test}).test for test in (7, ["a", "b"], "held.csv", {"file": "held.csv"})
    ]
    assert [(one.count, one.ids, one.file) for one in given] == [
        (7, (), None), (0, ("a", "b"), None), (0, (), "held.csv"), (0, (), "held.csv")
    ]  # fmt: skip
    with pytest.raises(InputError, match=r'a number of items, ids, or a file "labels\.csv", not 2\.5'):
        make({"classes": 2, "test": 2.5})
    with pytest.raises(InputError, match=r"not 'known\.csv'; a file of known labels is named by labels"):
        make({"classes": 2, "initial": "known.csv"})


def test_a_plan_in_a_file_is_the_plan_in_arguments(path):
    assert read(path) == make(
        {
            "classes": ["cat", "dog"],
            "batch": 5,
            "initial": 10,
            "network": "lenet5",
            "training": {"epochs": 20},
        }
    )


def test_a_function_that_augments_cannot_be_written_into_a_plan():
    def double(inputs, labels, rng):
        return inputs * 2, labels

    assert Training(augment=("flip",)).options()["augment"] == ("flip",)
    with pytest.raises(InputError, match="a function cannot be written into a plan"):
        Training(augment=double).options()


def test_a_plan_survives_being_written_down(path):
    plan = read(path)
    assert make(plan.model_dump(mode="json")) == plan


def test_a_plan_says_what_its_labelled_data_are_used_for(path):
    plan = read(path)
    assert plan.initial.count == 10
    assert all(field.description for field in Plan.model_fields.values())


def test_an_initial_set_may_be_so_many_of_each_class(path):
    plan = read(path, overrides=["initial={per_class=2}"])
    assert plan.initial.per_class == 2
    assert make(plan.model_dump(mode="json")) == plan


def test_a_plan_does_not_change(path):
    with pytest.raises(ValidationError):
        read(path).batch = 7


def test_settings_lie_over_the_file_and_are_read_as_toml_or_as_words(path):
    plan = read(
        path, overrides=["batch=7", "acquire=margin", "training.epochs=3", "training.lr=0.1", "seed = 4"]
    )
    assert (plan.batch, plan.acquire, plan.seed) == (7, "margin", 4)
    assert plan.training == {"epochs": 3, "lr": 0.1}
    assert read(path, overrides=['classes=["a", "b"]']).classes == ("a", "b")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("bach=5", "unknown key in the plan 'bach'; did you mean 'batch'"),
        ("batch", "a setting is written key=value, not 'batch'"),
        ("=5", "a setting is written key=value"),
        ("batch.size=5", "'batch' is a value, not a table"),
        ("batch=0", "batch in the plan: input should be greater than or equal to 1, not 0"),
        ("batch=-3", "batch in the plan: .* not -3"),
        ("draws=0", "draws in the plan: .* not 0"),
        ("seed=abc", "seed in the plan: .* not 'abc'"),
        ("acquire=bold", "unknown acquisition 'bold'; did you mean 'bald'"),
        ("select=topk", "unknown selection 'topk'; did you mean 'top_k'"),
        ("start=hot", "start in the plan: input should be 'scratch', 'given' or 'warm', not 'hot'"),
        ('classes=["a", " "]', "a class has an empty name"),
        ('classes=["a","a"]', "class 'a' is named 2 times"),
        ("initial=-1", "initial.count in the plan: .* not -1"),
        ("initial={per_class=0}", "initial.per_class in the plan: .* not 0"),
        ("initial={per_class=2, count=4}", "give a number or per_class, not both"),
        ("initial={per_class=60}", "60 of each of 2 classes are 120 labels, more than the budget of 100"),
        ("validation={per_class=2}", "validation.per_class in the plan: extra inputs are not permitted"),
        ("initial=many", "initial in the plan is a number of items, .* not 'many'"),
    ],
)
def test_a_mistake_is_refused_in_one_line(path, setting, message):
    with pytest.raises(InputError, match=message) as caught:
        read(path, overrides=[setting])
    assert "\n" not in str(caught.value)


def test_files_that_are_no_plan_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no plan"):
        read(tmp_path / "no.toml")
    (tmp_path / "bad.toml").write_text("batch = = 5")
    with pytest.raises(InputError, match=r"cannot be read: .*line 1"):
        read(tmp_path / "bad.toml")
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(InputError, match="name the classes: classes = "):
        read(tmp_path / "empty.toml")


def test_classes_may_be_left_to_people_but_nothing_runs_before_there_are_two(path):
    for some, found in (("[]", "none"), ('["cat"]', "cat")):
        plan = read(path, overrides=[f"classes={some}"])
        assert (plan.unnamed, plan.outputs) == (True, 2)
        with pytest.raises(InputError, match=f"at least two classes, and has {found}; name them on the page"):
            refuse_unnamed(plan, where="pets")
    named = read(path, overrides=['classes=["a", "b", "c"]'])
    assert (named.unnamed, named.outputs) == (False, 3)
    refuse_unnamed(named, where="pets")
    with pytest.raises(InputError, match="at least two classes"):
        read(path, overrides=['task="segmentation"', 'classes=["sky"]'])


def test_overriding_leaves_the_values_it_was_given_alone():
    values = {"training": {"epochs": 1}}
    assert override(values, ["training.epochs=2"]) == {"training": {"epochs": 2}}
    assert values == {"training": {"epochs": 1}}
