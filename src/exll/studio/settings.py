"""Settings of a project that hold at once; network and preset are others (:mod:`exll.studio.rereading`)."""

from typing import Any

from exll.studio.project import Project

MOST_THUMBNAILS = 8


def settings_of(project: Project) -> dict[str, Any]:
    return {"false_alarms": project.false_alarms, "thumbnails": project.thumbnails, "inbox": project.inbox}


def change_settings(
    project: Project, false_alarms: float | None = None, thumbnails: int | None = None, inbox: bool | None = None
) -> dict[str, Any]:
    """In the writer's thread. Gives all of them; the event 'settings' tells of it."""
    if false_alarms is not None:
        project.store.set_metadata("false_alarms", repr(false_alarms))
    if thumbnails is not None:
        project.store.set_metadata("thumbnails", str(thumbnails))
    if inbox is not None:
        project.store.set_metadata("inbox", "on" if inbox else "off")
    settings = settings_of(project)
    project.events.publish("settings", settings)
    return settings
