"""What must work where askwise was just installed: the command, a fit, a saved model, the page."""

import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

BIN = Path(sys.executable).parent / "askwise"


def said(*command: str) -> str:
    done = subprocess.run([BIN, *command], capture_output=True, text=True, check=True)
    return done.stdout


def learns() -> None:
    import torch

    import askwise as aw

    x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    model = aw.fit(network, (x, (x[:, 0] > 0).long()), posterior=aw.bbb(last=1), start="scratch", seed=0)
    right = (aw.predict(model, x).mean.argmax(1) == (x[:, 0] > 0)).float().mean()
    assert right > 0.9, right
    model.save("model")
    assert aw.load("model", network=network).digest() == model.digest()


def page_answers() -> None:
    command = [BIN, "label", "digits", "--demo", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        try:
            assert page.stdout is not None
            found = re.search(r"http://\S+?(?=/#)", page.stdout.readline())
            assert found is not None
            for _ in range(100):
                try:
                    with urllib.request.urlopen(f"{found[0]}/", timeout=5) as answer:
                        assert b"askwise" in answer.read().lower()
                    break
                except OSError:
                    time.sleep(0.2)
            else:
                raise AssertionError("the page does not answer")
        finally:
            page.terminate()


def main() -> None:
    import askwise

    assert "site-packages" in str(askwise.__file__), askwise.__file__
    version = said("--version").strip()
    assert version == askwise.__version__
    said("doctor")
    with tempfile.TemporaryDirectory() as place:
        import os

        os.chdir(place)
        learns()
        page_answers()
        os.chdir("/")
    print(f"askwise {version} on Python {sys.version.split()[0]}: installed, learns, saves, serves the page")


if __name__ == "__main__":
    main()
