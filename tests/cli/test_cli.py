import subprocess
import sys

import numpy as np
import pytest
from tiny_plan import write_plan

import askwise as aw

COMMANDS = [
    "demo",
    "new",
    "run",
    "status",
    "report",
    "compare",
    "reproduce",
    "data",
    "plan",
    "doctor",
    "encoders",
]


def test_help_names_every_command_and_loads_no_torch():
    code = (
        "import sys; from askwise.cli import call; code = call(['--help']); "
        "print([m for m in ('torch', 'numpy', 'pydantic') if m in sys.modules]); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
    assert all(command in done.stdout for command in COMMANDS)


@pytest.mark.parametrize(
    "arguments",
    [[], *([command, "--help"] for command in COMMANDS), ["data", "fetch", "-h"], ["plan", "check", "-h"]],
)
def test_every_help_is_printed_with_exit_code_0(askwise, arguments, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = askwise(*arguments)
    assert (code, err) == (0, "")
    assert "Usage: askwise" in out
    assert not [line for line in out.splitlines()[1:] if line.endswith("...")]  # every word is there


def test_version_is_that_of_the_package(askwise):
    assert askwise("--version") == (0, f"{aw.__version__}\n", "")


def test_python_runs_the_package_as_the_command():
    for words, code in ((["--version"], 0), (["status", "nothere"], 2)):
        done = subprocess.run([sys.executable, "-m", "askwise", *words], capture_output=True, text=True)
        assert done.returncode == code
    assert done.stderr.startswith("askwise: nothere is no project")


BAD = {
    "an unknown command": (["lable"], "No such command 'lable'"),
    "an unknown option": (["demo", "--quick"], "No such option: --quick"),
    "a missing argument": (["run"], "Missing argument"),
    "a number that is none": (["demo", "--budget", "many"], "--budget"),
    "a seed that is no number": (
        ["demo", "--seeds", "abc"],
        "seeds are written 7, 0-4 or 0,3,8-10, not 'abc'",
    ),
    "seeds backwards": (["demo", "--seeds", "4-2"], "write 2-4"),
    "a seed twice": (["demo", "--seeds", "1,0-2"], "twice"),
    "an unknown acquisition": (["demo", "--acquire", "bold"], "did you mean 'bald'?"),
    "a budget of nothing": (["demo", "--budget", "0"], "budget in the plan"),
    "no processes": (["demo", "--processes", "0", "--out", "{tmp}/out"], "processes must be a whole number"),
    "a missing plan": (["run", "{tmp}/none.toml"], "there is no plan"),
    "a plan that is no TOML": (["run", "{tmp}/broken.toml"], "cannot be read"),
    "an unknown key": (["plan", "check", "{plan}", "--set", "bach=5"], "did you mean 'batch'?"),
    "an unknown acquisition in a plan": (["plan", "check", "{plan}", "--set", "acquire=bold"], "'bald'"),
    "an unknown option of training": (["plan", "check", "{plan}", "--set", "training.epoch=5"], "'epochs'"),
    "an unknown posterior": (["plan", "check", "{plan}", "--set", "posterior.name=bbq"], "'bbb'"),
    "a batch of nothing": (["plan", "check", "{plan}", "--set", "batch=0"], "batch in the plan"),
    "a batch below nothing": (["plan", "check", "{plan}", "--set", "batch=-3"], "batch in the plan"),
    "no draws": (["run", "{plan}", "--set", "draws=0"], "draws in the plan"),
    "a seed in the plan that is no number": (["run", "{plan}", "--set", "seed=abc"], "seed in the plan"),
    "too many of each class": (
        ["plan", "check", "{plan}", "--set", "initial={per_class=3}"],
        "3 of each of 10 classes are 30 labels, more than the budget of 20",
    ),
    "more of a class than there are": (
        ["plan", "check", "{plan}", "--set", "initial={per_class=130}", "--set", "budget=1300"],
        "initial per class wants 130 items of class",
    ),
    "a balanced start without labels": (
        ["run", "{plan}", "--set", "initial={per_class=2}", "--set", "data={tmp}/x.npy", "--set", "test=0"],
        "initial per class needs labels known in advance; run with --oracle labels.csv",
    ),
    "one class": (["run", "{plan}", "--set", 'classes=["a"]'], "at least two classes, and has a"),
    "a class twice": (["plan", "check", "{plan}", "--set", 'classes=["a", "a"]'], "named 2 times"),
    "a setting without a value": (["plan", "check", "{plan}", "--set", "batch"], "key=value"),
    "unknown data": (["run", "{plan}", "--set", "data=digit"], "did you mean 'digits'?"),
    "an unknown network": (["run", "{plan}", "--set", "network=mpl"], "did you mean 'mlp'?"),
    "a network too large for the items": (
        ["run", "{plan}", "--set", "network=batchbald_cnn"],
        "at least 16 x 16",
    ),
    "a missing file of labels": (["run", "{plan}", "--oracle", "{tmp}/none.csv"], "there is no file"),
    "labels outside the classes": (["run", "{plan}", "--oracle", "{tmp}/wrong.csv"], "which is no class"),
    "a run of nothing": (["run", "{tmp}/nothere"], "is no project: it is not there; make one with"),
    "labels of a store": (["export", __file__, "--labels"], "it is a file; if it is the store of a Learner"),
    "a status of nothing": (["status", "{tmp}/nothere"], "is no project: it is not there; make one with"),
    "a missing store": (["status", "{tmp}/none.db"], "there is no store"),
    "a store that is no database": (["status", "{tmp}/text.db"], "not an askwise store"),
    "a report of no database": (["report", "{tmp}/text.db"], "not an askwise store"),
    "an empty store": (["report", "{tmp}/empty.db"], "holds no run yet"),
    "an empty store's status": (["status", "{tmp}/empty.db"], "holds no run yet"),
    "a plan without a run": (["status", "{plan}"], "askwise run"),
    "a folder without stores": (["report", "{tmp}"], "holds no stores"),
    "an unknown data set": (["data", "fetch", "minst"], "did you mean 'mnist'?"),
    "nothing to fetch": (["data", "fetch", "digits"], "nothing to fetch"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_with_exit_code_2(askwise, tmp_path, case):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "broken.toml").write_text("batch = = 3")
    (folder / "wrong.csv").write_text("id,label\ndigits-train-00001,eleven\n")
    (folder / "text.db").write_text("a letter, not a database; long enough to be looked at " * 30)
    (folder / "empty.db").write_bytes(b"")
    np.save(folder / "x.npy", np.zeros((30, 4), dtype=np.float32))
    empty = tmp_path / "empty"
    empty.mkdir()
    plan = write_plan(folder)
    arguments, wanted = BAD[case]
    place = empty if arguments[1:] == ["{tmp}"] else folder
    code, out, err = askwise(
        *(a.replace("{tmp}", str(place)).replace("{plan}", str(plan)) for a in arguments)
    )
    assert code == 2
    assert out == ""
    assert err.startswith("askwise: ")
    assert err.count("\n") == 1
    assert wanted in err
    assert not (folder / "tiny.db").exists(), "a refused command must leave no store behind"


def test_a_good_plan_is_not_refused(askwise, tmp_path):
    """The control of the test above: the plan that the bad cases change is a good one."""
    code, out, err = askwise("plan", "check", write_plan(tmp_path))
    assert (code, err) == (0, "")
    assert "can run" in out


def test_a_read_only_store_is_refused_before_anything_is_done(askwise, tmp_path):
    plan = write_plan(tmp_path, 'store = "/proc/askwise/run.db"\n')
    code, _, err = askwise("run", plan, "--oracle", "simulated")
    assert code == 2
    assert "/proc/askwise" in err
    plan = write_plan(tmp_path, 'store = "/proc/version"\n')
    code, _, err = askwise("run", plan, "--oracle", "simulated")
    assert code == 2
    assert err.count("\n") == 1


def test_an_interrupted_command_says_how_to_go_on(askwise, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("askwise.cli.data.place", interrupted)
    code, _, err = askwise("data", "list")
    assert code == 130
    assert err == "askwise: interrupted; run the same command again to go on\n"


SEVERAL = """
import atexit, os, signal, sys
from askwise import cli
from askwise.cli import data

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
def interrupted(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
data.place = interrupted
atexit.register(interrupted)  # again, while the process ends
sys.argv = ["askwise", "data", "list"]
cli.main()
"""


def test_ctrl_c_again_and_again_is_one_line():
    done = subprocess.run([sys.executable, "-c", SEVERAL], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "askwise: interrupted; run the same command again to go on\n"
