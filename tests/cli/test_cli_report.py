def test_report_is_one_page_with_all_sections(askwise, finished, tmp_path):
    page = tmp_path / "deep" / "page.html"
    code, out, err = askwise("report", finished, "--out", page)
    assert (code, err) == (0, "")
    assert str(page) in out
    written = page.read_text()
    for section in ("curves", "calibration", "asked", "unsure", "confusion", "balance", "times", "plan"):
        assert f'id="{section}"' in written
    assert written.count("data:image/png") == 20 + 20  # what was asked, and what it is still unsure about


def test_reports_of_two_runs_do_not_replace_each_other(askwise, finished, made, monkeypatch):
    assert "report: signs/exports/report.html" in askwise("report", "signs")[1]
    store = finished.with_name("tiny-seed0.db")
    assert f"report: {store.with_suffix('.html')}" in askwise("report", store)[1]
    assert "report: report.html" in askwise("report", store, store.with_name("tiny-seed1.db"))[1]


def test_a_page_that_cannot_be_written_is_one_line(askwise, finished):
    code, _, err = askwise("report", finished, "--out", "/proc/none/page.html")
    assert code == 2
    assert err.count("\n") == 1


def test_the_same_run_twice_is_refused(askwise, finished, tmp_path):
    store = finished.with_name("tiny-seed0.db")
    code, _, err = askwise("report", store, store, "--out", tmp_path / "page.html")
    assert code == 2
    assert "leave one out" in err
