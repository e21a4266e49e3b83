"""What is finished of a run, in a folder: a model file for every shard or merged model that is still needed, what each
shard had to skip, and a manifest that says which run it is."""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from exll.cluster.shards import Node
from exll.errors import ClusterError, ModelFileError
from exll.saving.model_file import read_model
from exll.saving.whole_files import write_whole

MANIFEST = "manifest.json"
IN_WORDS = {  # what the manifests of two runs may differ in; the first is said
    "fingerprint": "other data",
    "order": "another order",
    "seed": "another seed",
    "model": "other parameters of the model",
    "exll": "another version of exll",
    "sequence": "other examples",
}

Skipped = dict[int, str]  # by the place in the shard, the reason


def folder_beside(model: Path) -> Path:
    return model.with_name(f"{model.name}.parts")


def remove_leftovers(folder: Path, fingerprint: str) -> None:
    """Remove the parts of a run whose model was saved just before somebody stopped it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((folder / MANIFEST).read_bytes())["fingerprint"] == fingerprint:
            shutil.rmtree(folder, ignore_errors=True)


class Parts:
    """The folder of one run; ``manifest`` must be that of the run that began it."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        file = folder / MANIFEST
        if not file.exists():
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise ClusterError(f"{folder} is needed for the parts of this run, but holds something else; move it.")
            folder.mkdir(exist_ok=True)
            write_whole(file, json.dumps(manifest).encode())
        self._check(manifest)

    def _check(self, manifest: dict[str, Any]) -> None:
        try:
            found = json.loads((self.folder / MANIFEST).read_bytes())
            others = [words for key, words in IN_WORDS.items() if found[key] != manifest[key]]
            source = found["source"]
        except (ValueError, KeyError, TypeError) as error:
            raise ClusterError(
                f"the manifest of {self.folder} is damaged; remove the folder to start again."
            ) from error
        if others:
            raise ClusterError(
                f"{self.folder} holds the parts of a run over {source} with {others[0]}; finish that run "
                "with its own command, or remove the folder."
            )

    def place(self, node: Node) -> Path:
        """Where the model of these shards lies; -1 stands for what was known before."""
        first, last = ("base" if shard < 0 else f"{shard:03}" for shard in node)
        return self.folder / f"{first}-{last}.exll"

    def whole(self, node: Node) -> bool:
        """Whether the model of these shards is there and as it was saved, with what they skipped."""
        if any(self.skipped(shard) is None for shard in range(node[0], node[1] + 1)):
            return False
        try:
            read_model(self.place(node))
        except ModelFileError:  # missing, cut off or altered
            return False
        return True

    def note(self, shard: int, skipped: Skipped, examples: int) -> None:
        """Keep what a shard of so many examples had to skip; its model is in its place already."""
        content = {"examples": examples, "skipped": {str(place): reason for place, reason in skipped.items()}}
        write_whole(self._note(shard), json.dumps(content).encode())

    def skipped(self, shard: int) -> Skipped | None:
        """What a finished shard had to skip; None where it is not finished."""
        try:
            return {int(place): str(why) for place, why in self._noted(shard)["skipped"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def empty(self, shard: int) -> bool:
        """Whether a shard is finished and had nothing that could be learned, so that there is no model of it."""
        skipped = self.skipped(shard)
        return skipped is not None and len(skipped) == self._noted(shard).get("examples")

    def _note(self, shard: int) -> Path:
        return self.folder / f"{shard:03}.json"

    def _noted(self, shard: int) -> dict[str, Any]:
        noted: dict[str, Any] = json.loads(self._note(shard).read_bytes())
        return noted

    def remove(self) -> None:
        """The whole is saved."""
        shutil.rmtree(self.folder, ignore_errors=True)
