import json

from askwise.data import NAMES


def test_data_list_says_what_is_here_and_how_to_get_the_rest(askwise, tmp_path):
    code, out, err = askwise("data", "list", "--data", tmp_path)
    assert (code, err) == (0, "")
    assert "askwise data fetch mnist" in out
    found = json.loads(askwise("data", "list", "--data", tmp_path, "--json")[1])
    assert set(found) == set(NAMES)
    assert {name for name, one in found.items() if one["here"]} == {"digits"}
