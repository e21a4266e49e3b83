"""Photos out as a zip with one folder per class and a manifest, and the model that calls them by their names in it."""

import contextlib
import copy
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from exll.features.formats import HEAD_BYTES, image_format
from exll.kept_thumbnails import KeptThumbnails
from exll.studio.edits import HELD_OUT, NOTHING
from exll.studio.manifest import MANIFEST, Line, as_csv
from exll.studio.project import Project
from exll.studio.store import LARGEST_ID, StoredExample
from exll.studio.zip_folders import folders_of
from exll.vision import ImageLearner

# ``exll learn`` passes by what begins with a dot: these are not to be learned.
HELD_OUT_FOLDER, NOTHING_FOLDER, SOURCES_FOLDER = ".held-out", ".nothing", ".sources"


def export_dataset(project: Project, path: Path) -> None:
    """Photos are compressed already: they are only put together."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        listed = _listed(project)
        archive.writestr(MANIFEST, as_csv(line for _, line in listed))
        sources: dict[str, str | None] = {}
        for example, line in listed:
            archive.writestr(line.file, project.pictures.image(example.digest))
            if line.source:
                sources[line.source] = example.source
        for name, digest in sources.items():
            assert digest is not None
            archive.writestr(name, project.pictures.image(digest))


def export_manifest(project: Project, path: Path) -> None:
    path.write_bytes(as_csv(line for _, line in _listed(project)))


def export_model(project: Project, path: Path) -> None:
    """It calls its examples what they are called in the dataset: where that is unpacked beside it, its explanations and
    rules have all photos, and elsewhere those that the model keeps."""
    project.live.current.taught()
    learner = project.live.write(lambda: _copied(project)).result()  # no step is half made there
    learner._kept = KeptThumbnails(project.thumbnails, learner.thumbnail_side)
    listed = _listed(project)
    names = {str(example.id): line.file for example, line in listed}
    images = {str(example.id): project.pictures.image_path(example.digest) for example, _ in listed}
    inner = learner.classifier.learner_
    records = inner.records_at(range(inner.learned_count))
    learner.choose_thumbnails({record.position: images[record.name] for record in records if record.name in images})
    learner.classifier.rename_refs(lambda ref: names.get(ref, ref))
    learner.save(path)


def _copied(project: Project) -> ImageLearner:
    learner = copy.copy(project.live.current.learner)
    learner.classifier = copy.deepcopy(learner.classifier)
    return learner


def _listed(project: Project) -> list[tuple[StoredExample, Line]]:
    """Every example with its line of the manifest, the oldest first."""
    store = project.store
    examples = [*store.examples(None, LARGEST_ID, -1), *store.examples(None, LARGEST_ID, -1, NOTHING)]
    examples.sort(key=lambda example: example.id)
    folders = folders_of(dict.fromkeys(example.label for example in examples if example.role != NOTHING))
    return [(example, _line(project, example, folders)) for example in examples]


def _line(project: Project, example: StoredExample, folders: dict[str, str]) -> Line:
    folder = NOTHING_FOLDER if example.role == NOTHING else folders[example.label]
    image = project.store.image(example.digest)
    suffix = _suffix("" if image is None else image.format)
    above = f"{HELD_OUT_FOLDER}/" if example.role == HELD_OUT else ""
    return Line(
        file=f"{above}{folder}/{example.id:06}.{suffix}",
        label=example.label,
        role=example.role,
        name=example.name,
        taught_at=datetime.fromtimestamp(example.taught_at, UTC).isoformat(timespec="seconds"),
        box=example.box or "",
        source="" if example.source is None else _source(project, example.source),
        clip=example.clip or "",
    )


def _source(project: Project, digest: str) -> str:
    """Empty where the photo is no longer on the disk."""
    with contextlib.suppress(FileNotFoundError), project.pictures.image_path(digest).open("rb") as file:
        return f"{SOURCES_FOLDER}/{digest}.{_suffix(image_format(file.read(HEAD_BYTES)) or '')}"
    return ""


def _suffix(format: str) -> str:
    return format.lower().replace("jpeg", "jpg") or "jpg"
