"""Settings of a project: those that hold at once, its preset, and its network, for which all photos are read again."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from exll.features.backbone import DEFAULT
from exll.features.known_networks import known_networks
from exll.learner.preset import preset_description, preset_names
from exll.studio.errors import ConflictError, UnusableError
from exll.studio.project import Project
from exll.studio.rereading import Rereading
from exll.studio.routes.requests import PROBLEMS, AllProjects, CurrentProject, ProjectName, change
from exll.studio.settings import MOST_THUMBNAILS, change_settings, settings_of
from exll.studio.store import Store

router = APIRouter(prefix="/api/project", tags=["project"], responses=PROBLEMS)
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Wanted(BaseModel):
    """Settings that are not given stay as they are."""

    false_alarms: float | None = Field(
        None, gt=0, lt=1, description="the share of known things that may be called unusual or unknown"
    )
    thumbnails: int | None = Field(
        None, ge=0, le=MOST_THUMBNAILS, description="photos per prototype in the exported model"
    )
    inbox: bool | None = Field(None, description="whether unusual photos that were asked about are kept in the Inbox")


class Settings(BaseModel):
    false_alarms: float
    thumbnails: int
    inbox: bool


class NetworkShape(BaseModel):
    name: str
    description: str
    to_add: str = Field(description="the command that adds it; empty where it can be chosen")


class PresetShape(BaseModel):
    name: str
    description: str = Field(description="one sentence; empty where its package says nothing")


class ReadingShape(BaseModel):
    """The progress of a change of the network."""

    network: str
    done: int
    photos: int
    running: bool
    error: str = Field(description="why it failed; then the old network is still used")


class AllSettings(Settings):
    network: str
    networks: list[NetworkShape]
    preset: str
    presets: list[PresetShape]
    reading: ReadingShape | None = Field(description="the present or the last change of the network")


class WantedNetwork(BaseModel):
    network: Name


class WantedPreset(BaseModel):
    preset: Name


@router.get("/settings")
async def all_settings(project: CurrentProject) -> AllSettings:
    return await project.reading.run(_all_settings, project)


@router.post("/settings")
async def set_settings(project: CurrentProject, wanted: Wanted) -> Settings:
    """Change settings. They apply immediately and are stored in the project. The event 'settings' reports them."""
    return Settings(**await change(project, lambda: change_settings(project, **wanted.model_dump())))


@router.post("/network")
async def set_network(
    project: CurrentProject, projects: AllProjects, name: ProjectName, wanted: WantedNetwork
) -> AllSettings:
    """Read all photos again with another network, in the background. Meanwhile the old network answers, and the event
    'reading' reports the progress. Then the event streams end, and requests wait while all examples are learned
    again."""
    if wanted.network not in (network.name for network in _choices() if not network.to_add):
        raise UnusableError("there is no such network here.", "Choose one that 'exll backbone list' names.")
    _check_not_reading(project)
    if wanted.network != project.backbone.name:
        project.rereading = Rereading(projects, name, wanted.network)
        projects.background.submit(project.rereading.run)
    return await project.reading.run(_all_settings, project)


@router.post("/network/cancel")
async def keep_network(project: CurrentProject) -> AllSettings:
    """Stop reading photos with another network. What was read is used if that network is chosen again."""
    if project.rereading is not None:
        project.rereading.cancel()
    return await project.reading.run(_all_settings, project)


@router.post("/preset")
async def set_preset(projects: AllProjects, name: ProjectName, wanted: WantedPreset) -> WantedPreset:
    """Change the preset. The project is closed and opened again, and all examples are learned again. The answer comes
    when that is done."""
    if wanted.preset not in preset_names():
        raise UnusableError("there is no such preset.", f"Choose one of {', '.join(preset_names())}.")
    project = await projects.use(name)
    try:
        _check_not_reading(project)
    finally:
        projects.leave(name)  # it is to be closed

    def renew(folder: Path) -> None:
        store = Store(folder)
        try:
            if store.metadata("preset") != wanted.preset:
                store.renew("preset", wanted.preset)
        finally:
            store.close()

    await asyncio.wrap_future(projects.reopen(name, renew, f"the preset {wanted.preset}"))
    return wanted


def _check_not_reading(project: Project) -> None:
    if project.rereading is not None and project.rereading.running:
        raise ConflictError("the network is being changed.", "Wait until that is done, or cancel it.")


def _all_settings(project: Project) -> AllSettings:
    reading = project.rereading
    return AllSettings(
        **settings_of(project),
        network=project.backbone.name,
        networks=_choices(),
        preset=project.preset,
        presets=[PresetShape(name=name, description=preset_description(name)) for name in preset_names()],
        reading=None if reading is None else ReadingShape(**reading.to_dict()),
    )


def _choices() -> list[NetworkShape]:
    known = [NetworkShape(name=n.name, description=n.description, to_add=n.to_add) for n in known_networks()]
    places = [i for i, network in enumerate(known) if network.name == DEFAULT and not network.to_add]
    for i in places:
        quick = NetworkShape(name=f"{DEFAULT}-int8", description="the default in 8-bit numbers: faster", to_add="")
        known.insert(i + 1, quick)
    return known
