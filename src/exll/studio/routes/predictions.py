"""Predictions for many images at once, as CSV."""

import csv
import io
from typing import Annotated, Any

from fastapi import APIRouter, File, Response, UploadFile

from exll.errors import ImageError
from exll.studio.analysed_image import analyse
from exll.studio.errors import TooLargeError
from exll.studio.manifest import guarded
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, FalseAlarmsField, content_of, name_of

SAID = ("label", "probability", "runner_up", "known", "level", "novelty")

router = APIRouter(prefix="/api", tags=["ask"], responses=PROBLEMS)


@router.post("/predictions.csv", response_class=Response)
async def predictions(
    project: CurrentProject, files: Annotated[list[UploadFile], File()], false_alarms: FalseAlarmsField
) -> Response:
    """What many images are, as the CSV of ``exll predict --csv``."""
    lines = [await _line(project, file, false_alarms) for file in files]
    text = io.StringIO()
    writer = csv.DictWriter(text, ("path", *SAID, "error"))
    writer.writeheader()
    writer.writerows(
        {name: guarded(value) if isinstance(value, str) else value for name, value in line.items()} for line in lines
    )
    disposition = 'attachment; filename="predictions.csv"'
    return Response(text.getvalue(), media_type="text/csv", headers={"Content-Disposition": disposition})


async def _line(project: Project, file: UploadFile, false_alarms: float) -> dict[str, Any]:
    name = name_of(file)
    model = project.live.current
    model.taught()
    try:
        content = await content_of(file)
        prediction = await project.looking.run(
            lambda: model.predict(analyse(content, project.backbone).vector, false_alarms)
        )
    except (ImageError, TooLargeError) as error:
        return {"path": name, "error": str(error)}
    return {"path": name, **{column: getattr(prediction, column) for column in SAID}}
