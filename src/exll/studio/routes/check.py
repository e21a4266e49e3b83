"""Check: examples whose label the others contradict, images under two labels, and the map of prototypes."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from exll.estimator import ExLLClassifier
from exll.explain.topology import colours, topology_of
from exll.explain.topology_page import circles_svg
from exll.studio.actions import keep
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, change
from exll.studio.routes.shapes import (
    Changed,
    ContradictionShape,
    ExampleShape,
    MapAnswer,
    MapPrototype,
    Numbers,
    SuspectsAnswer,
    SuspectShape,
)

NARROW_LETTERS = 44.0  # of 1,000, on a drawing as wide as a telephone

router = APIRouter(prefix="/api", tags=["check"], responses=PROBLEMS)


@router.get("/suspects")
async def suspects(project: CurrentProject, limit: Annotated[int, Query(ge=1, le=500)] = 60) -> SuspectsAnswer:
    """The most doubtful first, each judged by a model that never saw it. What was kept is left out."""
    return await project.studying.run(_suspects, project, limit)


@router.post("/suspects/keep")
async def keep_examples(project: CurrentProject, wanted: Numbers) -> Changed:
    """Say that examples are right as they are: remembered for as long as they have this label, or until undone."""
    kept = await change(project, lambda: keep(project, wanted.ids))
    return Changed(changed=kept, rebuilding=project.live.rebuilding)


@router.get("/map")
async def topology(project: CurrentProject, narrow: bool = False) -> MapAnswer:
    """Prototypes laid out in two dimensions, with the edges between them; ``narrow`` draws larger names."""
    return await project.studying.run(_map, project, narrow)


def _suspects(project: Project, limit: int) -> SuspectsAnswer:
    model = project.live.current
    if not model.knows_something:
        return SuspectsAnswer(suspects=[], contradictions=[], kept=0, judged=0)
    found = model.remembered("suspects", ExLLClassifier.suspects)
    kept = project.store.kept()
    doubtful = [suspect for suspect in found.contradicted() if int(suspect.name) not in kept]
    named = {int(suspect.name) for suspect in doubtful}
    named |= {int(name) for contradiction in found.contradictions for name in contradiction.names}
    live = {number: e for number, e in project.store.numbered(named).items() if not e.deleted}
    groups = [[live[n] for n in map(int, c.names) if n in live] for c in found.contradictions]
    return SuspectsAnswer(
        suspects=[
            SuspectShape(example=ExampleShape.of(example), would_be=str(suspect.would_be), doubt=suspect.doubt)
            for suspect in doubtful
            # what was relabelled since the model learned it is no longer in doubt
            if (example := live.get(int(suspect.name))) is not None and example.label == suspect.label
        ][:limit],
        contradictions=[
            ContradictionShape(examples=[ExampleShape.of(example) for example in group])
            for group in groups
            if len({e.label for e in group}) > 1 and not {e.id for e in group} <= kept
        ],
        kept=len(kept),
        judged=len(found.ranked),
    )


def _map(project: Project, narrow: bool) -> MapAnswer:
    model = project.live.current
    if not model.knows_something:
        return MapAnswer(method="pca", labels=[], colours=[], prototypes=[], summary="nothing taught yet", svg="")
    found = model.remembered("map", lambda classifier: topology_of(classifier.learner_))
    labels = [str(label) for label in found.labels]
    unnamed = replace(found, names=[()] * len(found.names))  # numbers of examples say nothing to a reader
    return MapAnswer(
        method=found.method,
        labels=labels,
        colours=colours(len(labels)),
        prototypes=[
            MapPrototype(
                label=labels[found.class_of[j]], support=int(support), examples=[int(name) for name in found.names[j]]
            )
            for j, support in enumerate(found.supports)
        ],
        summary=found.summary(),
        svg=circles_svg(unnamed, NARROW_LETTERS if narrow else None),
    )
