import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

import askwise
from askwise.loop.plan import Plan
from website import api, commands, pages, plan


def test_every_public_name_has_a_page():
    made = "\n".join(api.pages().values())
    for name in askwise.__all__:
        if name != "__version__":
            assert f'"aw.{name}"' in made or f"# aw.{name}\n" in made or f"`aw.{name}`" in made, name


def test_names_are_told_from_where_they_are_defined():
    assert api.names()["bbb"] == "askwise.bayes.posteriors.bbb.Config"
    assert api.names_of("askwise.assess")["PROMISE"] == "askwise.assess.band.PROMISE"


def test_every_command_and_every_key_of_a_plan_is_told():
    told = commands.page()
    for name in ("new", "label", "run", "data fetch", "store recover", "plan check"):
        assert f"## askwise {name}\n" in told, name
    assert "`--until SHARE`" in told
    keys = plan.page()
    assert all(f"| `{key}` |" in keys for key in Plan.model_fields)
    assert "`kl_weight = 0.01`" in keys


@pytest.mark.parametrize(
    ("line", "page", "moved"),
    [
        ("[a](../results/x.md)", "speed.md", None),
        ("[a](../results/exam.md)", "method.md", "[a](repository/results/exam.md)"),
        ("[a](docs/method.md#which-one)", "repository/README.md", "[a](../method.md#which-one)"),
        ("[a](https://x.org/results/exam.md)", "method.md", None),
    ],
)
def test_links_between_files_become_links_between_pages(line, page, moved):
    assert pages.relinked(line, page) == (moved or line)


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    if find_spec("mkdocs") is None:
        pytest.skip("the extra [docs] is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=pages.ROOT, capture_output=True, text=True, env=None,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)', page.read_text("utf-8")
        )
        assert loaded == [], page
