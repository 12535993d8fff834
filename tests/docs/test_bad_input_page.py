from website import bad_input


def test_the_page_of_bad_input_says_what_the_code_says_now():
    told = bad_input.page()
    assert bad_input.PAGE.read_text("utf-8") == told, "make it again: python -m website.bad_input"
    assert "Traceback" not in told
