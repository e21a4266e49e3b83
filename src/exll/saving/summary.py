"""What a model file holds, read off its arrays without building the model: quick, and needs no more than numpy."""

from typing import Any

import numpy as np

from exll.saving.model_file import ModelFile


def summary_of(file: ModelFile) -> dict[str, Any]:
    """Facts for a person or a program; raises KeyError or the like where the file holds no model."""
    facts, tensors = file.facts, file.tensors
    counts = tensors["megaclouds.counts"]
    prototypes = np.bincount(tensors["prototypes.class_of"], minlength=len(counts))
    classes = [
        {"label": label, "examples": int(count), "prototypes": int(own)}
        for label, count, own in zip(_labels(file), counts, prototypes, strict=True)
    ]
    return {
        "kind": facts["kind"],
        "preset": facts["preset"],
        "backbone": facts.get("backbone", {}).get("name"),
        "examples": int(tensors["statistics.count"]),
        "prototypes": len(tensors["prototypes.class_of"]),
        "features": facts["width"],
        "records": facts["records"],
        "refresh_growth": facts["refresh_growth"],
        "written_by": facts["exll"],
        "lessons": [
            {name: lesson[name] for name in ("source", "order", "seed", "position", "examples", "learned", "skipped")}
            for lesson in facts["lessons"]
        ],
        "classes": sorted(classes, key=lambda entry: entry["label"]),
    }


def _labels(file: ModelFile) -> list[Any]:
    from exll.saving.strings import strings_from_tensors

    if file.facts["labels"] == "string":
        return list(strings_from_tensors("labels", file.tensors))
    labels: list[Any] = file.tensors["labels"].tolist()
    return labels
