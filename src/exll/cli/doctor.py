"""``exll doctor``: what is installed, what is missing, what is broken, and what to do."""

from dataclasses import asdict

import typer

from exll.cli.common import JsonOption

CAMERA = (
    "A browser gives a page its camera on this machine (exll studio) or over https (exll studio --host 0.0.0.0, for "
    "phones), and asks you once."
)


def doctor(json: JsonOption = False) -> None:
    """Say what is installed, missing or broken on this machine, and what to do about it.

    Missing parts are optional: each adds a feature, and everything else works without it. The exit code is 1 if
    something that exll needs is broken.
    """
    from json import dumps

    from exll.cli.installation import State, examine

    findings = []
    for finding in examine():
        findings.append(finding)
        if not json:
            to_do = f"; to do: {finding.to_do}" if finding.to_do else ""
            typer.echo(f"{finding.state:8} {finding.name}: {finding.found}{to_do}")
    broken = [finding.name for finding in findings if finding.required and finding.state != State.ok]
    if json:
        typer.echo(dumps({"checks": [asdict(finding) for finding in findings], "broken": broken}, indent=2))
    else:
        typer.echo(f"\n{CAMERA}")
        needed = f"Broken, and exll needs it: {', '.join(broken)}." if broken else "All that exll needs is here."
        typer.echo(needed)
    if broken:
        raise typer.Exit(1)
