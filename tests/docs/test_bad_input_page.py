import subprocess
import sys

from website import bad_input


def test_the_page_of_bad_input_says_what_the_code_says_now():
    # in a process of its own, without the shape checks that the tests switch on, as a user would
    code = "import sys; from website.bad_input import page; sys.stdout.buffer.write(page().encode())"
    done = subprocess.run([sys.executable, "-c", code], cwd=bad_input.ROOT, capture_output=True, check=True)
    told = done.stdout.decode()
    assert bad_input.PAGE.read_text("utf-8") == told, "make it again: python -m website.bad_input"
    assert "Traceback" not in told
