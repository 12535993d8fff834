from askwise.markup import Html, join, tag, text


def test_children_are_escaped():
    assert tag("b", "<i>&") == "<b>&lt;i&gt;&amp;</b>"


def test_attributes_are_escaped():
    assert tag("b", title='"><script>') == '<b title="&quot;&gt;&lt;script&gt;"></b>'


def test_markup_is_taken_as_it_is():
    assert tag("p", tag("b", "x"), "<") == "<p><b>x</b>&lt;</p>"


def test_only_what_was_made_here_counts_as_markup():
    assert text("<b>" + Html("<i>")) == "&lt;b&gt;&lt;i&gt;"  # joined by hand, it is text again


def test_names_of_attributes():
    assert tag("g", class_="a", aria_label="b", viewBox="0 0 1 1", id=None) == (
        '<g class="a" aria-label="b" viewBox="0 0 1 1"></g>'
    )


def test_numbers_are_short():
    assert tag("g", r=3.5, x=1 / 3, n=2) == '<g r="3.5" x="0.33" n="2"></g>'


def test_elements_without_content_are_not_closed():
    assert tag("img", src="x") == '<img src="x">'


def test_nothing_is_nothing():
    assert join("a", None, 3) == "a3"


def test_bytes_that_are_no_text_can_be_written():
    shown = text("caf\udce9\x00\x1b[31m")
    shown.encode("utf-8")
    assert "\x00" not in shown
    assert "\x1b" not in shown
