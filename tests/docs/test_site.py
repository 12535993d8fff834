import re
import shutil
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


def test_an_example_of_a_docstring_becomes_code_until_the_empty_line():
    pytest.importorskip("griffe", reason="the extra [docs] is not installed")
    from website.fenced import fenced

    shown = fenced("Words.\n\n>>> for x in [1]:\n...     x\n1\n\nMore words.")
    assert shown == "Words.\n\n```pycon\n>>> for x in [1]:\n...     x\n1\n```\n\nMore words."
    assert fenced("a > b, and no example") == "a > b, and no example"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it."""
    if find_spec("mkdocs") is None:
        pytest.skip("the extra [docs] is not installed")
    place = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)]
    done = subprocess.run(command, cwd=pages.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)', page.read_text("utf-8")
        )
        assert loaded == [], page


@pytest.mark.slow
def test_tables_are_tables_and_examples_are_code(site):
    for page in site.rglob("*.html"):
        prose = re.sub(r"<(pre|code)\b.*?</\1>", "", page.read_text("utf-8"), flags=re.DOTALL)
        assert "|---" not in prose, page
        assert "&gt;&gt;&gt;" not in prose, page
    assert '<span class="gp">' in (site / "reference" / "api" / "askwise.html").read_text("utf-8")


@pytest.mark.slow
def test_the_search_works_from_the_disk(site):
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None:
        pytest.skip("no browser here: apt install chromium, and pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium)
        page, failed = browser.new_page(), []
        page.on("requestfailed", lambda request: failed.append(request.url))
        page.goto((site / "how-to" / "budget.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("temperature")
        page.wait_for_selector(".md-search-result__item")
        assert "Calibration" in page.locator(".md-search-result__list").text_content()
        assert failed == []
        browser.close()
