"""Thumbnails of a project's examples, embedded in the report."""

import io

from PIL import Image

from exll.errors import ExLLError
from exll.explain.rules_page import SIDE
from exll.explain.thumbnails import Thumbnail, Thumbnails, data_uri, shrunk
from exll.studio.project import Project


class StoredThumbnails(Thumbnails):
    """Finds examples by their number."""

    def __init__(self, project: Project) -> None:
        super().__init__(side=SIDE)
        self._project = project

    def _has(self, ref: str) -> bool:
        return True

    def of(self, ref: str) -> Thumbnail:
        try:
            example = self._project.store.example(int(ref))
            content = self._project.pictures.thumbnail(example.digest)
        except ExLLError:
            return Thumbnail(ref, None, missing="no image kept")
        small = shrunk(Image.open(io.BytesIO(content)), self._side)
        return Thumbnail(example.name, data_uri(small), *small.size)
