"""A project to try: drawings of household objects, made on the spot and taught as photos."""

import io
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from exll.streams.example import Example
from exll.streams.household.videos import Household
from exll.studio.actions import Offered, teach_images
from exll.studio.edits import HELD_OUT, TAUGHT, Role
from exll.studio.project import Project

SIZE = 224
EVERY = {TAUGHT: 6, HELD_OUT: 18}  # of 36 drawings of a class
THREADS = 2


def fill_with_sample(project: Project, stopped: Callable[[], bool]) -> None:
    """One step to undo; the event 'importing' tells how far it is."""
    home = Household(frames=1, test_frames=1, size=SIZE)
    data = home.dataset()
    assert data.test is not None
    drawings: list[tuple[Role, Example]] = [
        *((TAUGHT, example) for example in data.train.examples[:: EVERY[TAUGHT]]),
        *((HELD_OUT, example) for example in data.test.examples[:: EVERY[HELD_OUT]]),
    ]
    group, done = secrets.token_hex(8), 0
    project.events.publish("importing", {"done": done, "images": len(drawings)})
    try:
        with ThreadPoolExecutor(THREADS, "studio drawing") as pool:
            offers = pool.map(lambda drawing: _drawn(project, home, drawing[1]), drawings)
            for role, label, run in _runs(drawings, offers):
                if stopped() or project.closing.is_set():
                    pool.shutdown(cancel_futures=True)
                    return
                work = partial(teach_images, project, run, label, False, group=group, role=role)
                project.live.write_patiently(work)
                done += len(run)
                project.events.publish("importing", {"done": done, "images": len(drawings)})
    finally:
        project.events.publish("importing", {"done": len(drawings), "images": len(drawings)})  # or pages go on waiting


def _drawn(project: Project, home: Household, example: Example) -> Offered:
    file = io.BytesIO()
    home.picture(example).save(file, "JPEG", quality=90)
    return Offered(project.kept_image(file.getvalue()), f"{example.ref.replace('/', ' ').split('#')[0]}.jpg")


def _runs(drawings: list[tuple[Role, Example]], offers: Iterator[Offered]) -> Iterator[tuple[Role, str, list[Offered]]]:
    """Those of one class that follow one another."""
    run: list[Offered] = []
    for (role, example), after, offer in zip(drawings, [*drawings[1:], None], offers, strict=True):
        run.append(offer)
        if after is None or (role, example.label) != (after[0], after[1].label):
            yield role, str(example.label), run
            run = []
