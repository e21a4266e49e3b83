"""What a model file holds, read off its arrays without building the model: quick, and needs no more than numpy."""

from typing import Any

import numpy as np

from exll.saving.model_file import ModelFile


def summary_of(file: ModelFile) -> dict[str, Any]:
    """Figures for a person or a program; raises KeyError or the like where the file holds no model."""
    metadata, tensors = file.metadata, file.tensors
    counts = tensors["megaclouds.counts"]
    prototypes = np.bincount(tensors["prototypes.class_of"], minlength=len(counts))
    classes = [
        {"label": label, "examples": int(count), "prototypes": int(own)}
        for label, count, own in zip(_labels(file), counts, prototypes, strict=True)
    ]
    return {
        "kind": metadata["kind"],
        "preset": metadata["preset"],
        "backbone": metadata.get("backbone", {}).get("name"),
        "examples": int(tensors["statistics.count"]),
        "prototypes": len(tensors["prototypes.class_of"]),
        "features": metadata["width"],
        "records": metadata["records"],
        "thumbnails": len(tensors.get("thumbnails.positions", ())),
        "thumbnails_per_prototype": metadata.get("thumbnails"),
        "thumbnail_bytes": len(tensors.get("thumbnails.webp", ())),
        "calibration_examples": len(tensors.get("calibration.classes", ())),
        "examples_of_nothing": len(tensors.get("unknown.rows", ())),
        "refresh_growth": metadata["refresh_growth"],
        "written_by": metadata["exll"],
        "lessons": [
            {name: lesson[name] for name in ("source", "order", "seed", "position", "examples", "learned", "skipped")}
            for lesson in metadata["lessons"]
        ],
        "classes": sorted(classes, key=lambda entry: entry["label"]),
    }


def _labels(file: ModelFile) -> list[Any]:
    from exll.saving.strings import strings_from_tensors

    if file.metadata["labels"] == "string":
        return list(strings_from_tensors("labels", file.tensors))
    labels: list[Any] = file.tensors["labels"].tolist()
    return labels
