"""Objects of one's own by `module:attribute`: found beside the plan first, refused in one line."""

import pytest

from askwise.errors import InputError
from askwise.references import imported, reference_to


def test_a_module_beside_the_plan_comes_first(tmp_path):
    (tmp_path / "json.py").write_text("def dumps():\n    return 'own'\n")
    assert imported("json:dumps", what="score", folder=tmp_path)() == "own"
    assert imported("json:dumps", what="score")(3) == "3"  # the library's is not hidden


def test_what_is_called_by_its_name_is_found_again():
    assert imported(reference_to(imported), what="score") is imported


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("nowhere:build", r"there is no module 'nowhere' for the network 'nowhere'; put nowhere.py beside"),
        ("json:nothing", "module 'json' has no 'nothing'"),
        (":build", "written module:attribute, not ':build'"),
        ("broken:build", "fails when it is loaded: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_had_is_refused_in_one_line(reference, message, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(InputError, match=message) as caught:
        imported(reference, what="network", folder=tmp_path)
    assert "\n" not in str(caught.value)
