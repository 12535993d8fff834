import pytest
from tiny_plan import write_plan

REFUSED = {
    "an unknown network": ('network="nope"', "unknown network 'nope'"),
    "an option that the network has not": ("network_options={layers=3}", "unknown option of mlp"),
    "an unknown engine": ('engine="foo"', "unknown engine 'foo'"),
    "an option that the engine has not": ("engine_options={x=1}", "unknown option of engine 'local' 'x'"),
    "an option that the score has not": ("acquire_options={x=1}", "acquisition 'bald' takes no options"),
    "an option that the selection has not": ("select_options={x=1}", "selection 'top_k' takes no options"),
    "no such device": ('device="cuda:99"', "device 'cuda:99' is not available"),
    "no such data": ('data="nodata"', "there is no such file or folder"),
    "an unknown encoder": ('encoder="nope"', "unknown encoder (and no folder) 'nope'"),
    "an option that training has not": ("training={epoch=1}", "unknown option of training 'epoch'"),
    "no such test file": ('test={file="no.csv"}', "there is no file no.csv"),
    "classes that the test labels do not have": (
        'classes=["a","b"]',
        "a test label is '0', which is no class",
    ),
    "more layers than the network has": ('posterior={name="bbb",last=9}', "last=9 wants 9 layers"),
    "dropout that the network has not": (
        ['network="mlp"', 'posterior={name="mc_dropout"}'],
        "mc_dropout needs a network that calls dropout",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_that_cannot_run_is_refused_with_the_same_line_by_check_and_by_run(askwise, tmp_path, name):
    settings, line = REFUSED[name]
    plan = write_plan(tmp_path)
    sets = [
        word for one in ([settings] if isinstance(settings, str) else settings) for word in ("--set", one)
    ]
    checked, run = askwise("plan", "check", plan, *sets), askwise("run", plan, *sets)
    assert checked == run
    assert checked[0] == 2
    assert line in checked[2]
    assert not list(tmp_path.glob("*.db*"))  # and no store is left behind


def test_a_plan_that_can_run_passes_the_check(askwise, tmp_path):
    code, out, err = askwise("plan", "check", write_plan(tmp_path))
    assert (code, err) == (0, "")
    assert "can run: askwise run" in out
