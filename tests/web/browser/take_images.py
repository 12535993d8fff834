"""Takes the pictures of the page: python tests/web/browser/take_images.py docs/images [people].

With `PYTHONPATH=tests/web` for the second.
"""

import io
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from contract_server import ContractServer
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_sample_image

from askwise.store.facts import Answer

CLASSES = {"flower": 52, "temple": 41, "garden": 30, "lake": 22, "sky": 12, "something else": 7}
CURVE = {10: 0.41, 20: 0.52, 30: 0.6, 40: 0.66, 60: 0.71, 80: 0.76, 100: 0.79, 130: 0.83, 160: 0.85}
TOLD = {
    "labels": 164,
    "seen": 160,
    "given": 164,
    "balance": [{"name": name, "count": count} for name, count in CLASSES.items()],
    "curve": [{"labels": labels, "accuracy": accuracy} for labels, accuracy in CURVE.items()],
    "accuracy": {
        "value": 0.85,
        "low": 0.79,
        "high": 0.9,
        "said": "The accuracy is between 79.0 and 90.0 %, measured on 38 test answers.",
    },
    "forecast": "a forecast, which was too low on three of four sets: the next 50 labels should bring about "
    "0.8 points (-0.6 to 2.0)",
    "speed": {"per_minute": 34.2},
    "next": "Go on: the model chooses what it can learn most from (164 of 300).",
}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


def pictures() -> list[bytes]:
    """A whole photo, then parts of the two photos inside scikit-learn."""
    rng = random.Random(3)
    photos = [Image.fromarray(load_sample_image(name)) for name in ("flower.jpg", "china.jpg")]
    found = [photos[0]]
    for place in range(23):
        photo, part = photos[(place + 1) % 2], rng.choice([0.4, 0.55, 0.8])
        width, height = int(photo.width * part), int(photo.height * part)
        left, top = rng.randint(0, photo.width - width), rng.randint(0, photo.height - height)
        found.append(photo.crop((left, top, left + width, top + height)).resize((480, 320)))
    return [encoded(photo) for photo in found]


def encoded(photo: Image.Image) -> bytes:
    stream = io.BytesIO()
    photo.save(stream, "WEBP", quality=88)
    return stream.getvalue()


def take(folder: Path) -> None:
    items = [{"name": f"IMG_{2041 + 7 * place}.jpg"} for place in range(480)]
    server = ContractServer(kind="image", classes=list(CLASSES), items=items, pictures=pictures())
    server.name, server.model, server.status = "Summer photos", True, TOLD
    with server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        for name, options in {"light": DESK, "dark": DESK | {"color_scheme": "dark"}, "phone": PHONE}.items():
            page = browser.new_page(**options)
            page.goto(server.url)
            page.wait_for_selector("#stage img")
            page.wait_for_selector(".tiles img", state="attached")
            page.wait_for_timeout(1000)  # the bars have grown
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            small = shot.quantize(256, dither=Image.Dither.FLOYDSTEINBERG)
            small.save(folder / f"page-{name}.png", optimize=True)
        browser.close()


def take_people(folder: Path) -> None:
    """The owner's view, of an example in which two people have answered the same items."""
    from served_page import Served
    from small_page import truth, write_project

    with (
        tempfile.TemporaryDirectory() as place,
        sync_playwright() as driver,
        Served(write_project(Path(place)), people={"ann": "ann", "ben": "ben"}) as served,
    ):
        for at, name in enumerate(served.pool_ids()[:30]):
            right = ["dark", "light"].index(truth(served.desk.name(name)))
            for who, label in (("ann", right), ("ben", right if at % 9 else 1 - right)):
                said = Answer(id=name, key=who, verdict="label", label=label, annotator=who, view="ask")
                served.desk.store.answer([said])
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(**DESK)
        page.goto(served.url)
        page.click("[data-goto=people]")
        page.wait_for_selector("[data-person=ben]")
        page.fill("#person", "eve")
        page.click("text=Give a link")
        page.wait_for_selector("[data-person=eve]")
        page.wait_for_timeout(1000)
        page.screenshot(path=folder / "people.png")
        page.click("[data-person=eve] >> text=Link")
        page.wait_for_timeout(300)
        page.screenshot(path=folder / "people-link.png")
        browser.close()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    take_people(place) if sys.argv[2:] == ["people"] else take(place)
