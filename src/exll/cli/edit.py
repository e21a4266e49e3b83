"""``exll forget``, ``exll relabel`` and ``exll rename``: correct a model file in place, without its network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exll.cli.common import (
    BackboneOption,
    BoxOption,
    JsonOption,
    ModelArgument,
    Saver,
    label_of,
    open_image_learner,
    parse_box_option,
)

if TYPE_CHECKING:
    from exll.editing import Found
    from exll.teaching import Model

REFS_HELP = "Names of examples, as 'exll rules' and 'exll explain' show them."
MATCHING_HELP = "Only examples whose name matches this shell pattern, such as 'kitchen/*'."

RefsArgument = Annotated[list[str] | None, typer.Argument(metavar="REF...", help=REFS_HELP, show_default=False)]
MatchingOption = Annotated[str | None, typer.Option(metavar="PATTERN", help=MATCHING_HELP, show_default=False)]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="List the examples, and change nothing.")]


def forget(
    model: ModelArgument,
    refs: RefsArgument = None,
    class_: Annotated[
        str | None, typer.Option("--class", metavar="LABEL", help="Only examples of this class.", show_default=False)
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only examples that were taught with this group: a video, a day.", show_default=False
        ),
    ] = None,
    matching: MatchingOption = None,
    image: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The image of an example, for a model that keeps no vectors; needs --label.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label that --image was taught with.", show_default=False)
    ] = None,
    box: BoxOption = None,
    backbone: BackboneOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Forget examples: the model becomes the one that never saw them.

    An example is forgotten if it meets all conditions: exll forget things.exll --class mug --matching 'kitchen/*'
    forgets the mugs from the kitchen. A class is removed with its last example. A model must keep at least one example.
    """
    if any(option is not None for option in (image, label, box, backbone)):
        if image is None or label is None or any(option is not None for option in (class_, group, matching)):
            raise typer.BadParameter(
                "--image goes with --label, perhaps with one REF, --box or --backbone, and with nothing else."
            )
        _forget_image(model, image, label, refs, box, backbone, dry_run, json)
        return
    if not refs and (class_, group, matching) == (None, None, None):
        raise typer.BadParameter("say what to forget: REF, --class, --group or --matching.")
    from exll.editing import of_class
    from exll.loading import load_to_edit

    save = Saver(model)
    edited = load_to_edit(model)
    classifier = edited.classifier
    wanted = None if class_ is None else label_of(classifier, class_)
    if wanted is not None and not refs and group is None and matching is None:
        found = of_class(classifier.learner_, wanted)
    else:
        found = _selected(edited, refs, wanted, group, matching)
    examples = _named(edited, found)
    classifier._forget_found(found)
    if not dry_run:
        save(edited)
    _report_forgotten(edited, examples, dry_run, json)


def relabel(
    model: ModelArgument,
    to: Annotated[str, typer.Option("--to", metavar="LABEL", help="The right label; a new label makes a new class.")],
    refs: RefsArgument = None,
    matching: MatchingOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Give examples another label, as if they had been taught with it."""
    from exll.explain.wording import counted
    from exll.loading import load_to_edit

    if not refs and matching is None:
        raise typer.BadParameter("say which examples: REF or --matching.")
    save = Saver(model)
    edited = load_to_edit(model)
    new = label_of(edited.classifier, to)
    found = _selected(edited, refs, None, None, matching)
    labels = edited.classifier.learner_.labels
    moved = [one for one in found if labels[one[0]] != new]
    examples, already = _named(edited, moved), len(found) - len(moved)
    edited._relabel(moved, new)
    if moved and not dry_run:
        save(edited)
    if json:
        _print_json({"relabelled": len(moved), "to": new, "already": already, "examples": examples}, edited, dry_run)
        return
    if dry_run:
        _list(examples)
    verb = "would give" if dry_run else "gave"
    had_it = f" ({already:,} had it already)" if already else ""
    typer.echo(f'{verb} {counted(len(moved), "example")} the label "{new}"{had_it}; {_left(edited)}')


def rename(
    model: ModelArgument,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The label of a class.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new label.", show_default=False)],
    merge: Annotated[
        bool, typer.Option("--merge", help="If there is already a class NEW, make one class of the two.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Give a class another label, with all its examples.

    If there is already a class NEW, --merge makes one class of the two.
    """
    from exll.errors import InputError
    from exll.explain.wording import counted
    from exll.loading import load_to_edit

    save = Saver(model)
    edited = load_to_edit(model)
    before, after = label_of(edited.classifier, old), label_of(edited.classifier, new)
    classes = edited.classifier.learner_.labels
    if before in classes and after in classes and after != before and not merge:
        raise InputError(f"{model} has a class {after!r} already; --merge makes the two one.")
    edited.rename_class(before, after, merge=merge)
    save(edited)
    count = edited.megacloud(after).count
    if json:
        _print_json({"old": before, "new": after, "count": count}, edited)
    else:
        typer.echo(f'"{before}" is now "{after}", {counted(count, "example")}; {_left(edited)}')


def _forget_image(
    model: Path,
    image: Path,
    label: str,
    refs: list[str] | None,
    box: str | None,
    backbone: str | None,
    dry_run: bool,
    json: bool,
) -> None:
    """By the image itself: this alone needs the network."""
    from exll.errors import InputError, SingularError

    if refs and len(refs) > 1:
        raise typer.BadParameter("--image is one example; name at most one REF.")
    region, save = parse_box_option(box), Saver(model)
    learner = open_image_learner(model, backbone, None, "forget its vectors in Python: forget(X=..., y=...).")
    known = label_of(learner.classifier, label)
    try:
        learner.forget(refs, images=[image], labels=[known], boxes=[region])
    except SingularError as error:  # the model keeps no vectors, and its sums cannot have held this one
        raise InputError(f"{image} was not taught as {known!r}; nothing was changed.") from error
    if not dry_run:
        save(learner)
    name = refs[0] if refs else str(image)
    _report_forgotten(learner, [{"name": name, "label": known}], dry_run, json)


def _selected(
    model: "Model", refs: list[str] | None, label: Any, group: str | None, matching: str | None
) -> "list[Found]":
    from exll.editing import selected

    return selected(model.classifier.learner_, refs or None, label, group, matching)


def _named(model: "Model", found: "list[Found]") -> list[dict[str, Any]]:
    labels = model.classifier.learner_.labels
    return [{"name": record.name, "label": labels[k]} for k, _, record in found]


def _report_forgotten(model: "Model", examples: list[dict[str, Any]], dry_run: bool, json: bool) -> None:
    from exll.explain.wording import counted

    if json:
        _print_json({"forgotten": len(examples), "examples": examples}, model, dry_run)
        return
    if dry_run:
        _list(examples)
    classes = dict.fromkeys(example["label"] for example in examples)
    what = f"{counted(len(examples), 'example')} of {counted(len(classes), 'class')}"
    typer.echo(f"{'would forget' if dry_run else 'forgot'} {what}; {_left(model)} left")
    gone = [label for label in classes if label not in model.classes_]
    if gone:
        typer.echo(f"no examples are left of: {', '.join(map(str, gone))}")


def _list(examples: list[dict[str, Any]]) -> None:
    from exll.explain.notebook import one_line

    for example in examples:
        typer.echo(one_line(f'{example["name"]} ("{example["label"]}")'))


def _left(model: "Model") -> str:
    from exll.explain.wording import counted

    learner = model.classifier.learner_
    return f"{counted(learner.class_count, 'class')}, {counted(learner.sample_count, 'example')}"


def _print_json(said: dict[str, Any], model: "Model", dry_run: bool = False) -> None:
    from json import dumps

    learner = model.classifier.learner_
    numbers = {"classes_left": learner.class_count, "examples_left": learner.sample_count, "dry_run": dry_run}
    typer.echo(dumps({**said, **numbers}, indent=2))
