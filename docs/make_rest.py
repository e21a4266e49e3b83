"""Writes docs/rest.md from the studio's OpenAPI document. A test checks that it is fresh."""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exll.studio.app import create_app
from exll.studio.project import Project

PAGE = Path(__file__).with_name("rest.md")
HEAD = """# REST

The HTTP interface of the studio. This page is made from its OpenAPI document by `python docs/make_rest.py`; please
change the routes, not this page. A running studio gives the same document as JSON at `/api/openapi.json`.
[The studio](studio.md#rest-by-example) has examples with curl, and says
[who has access](studio.md#access-and-limits).

Requests with files are `multipart/form-data`, all others JSON. The paths of every project except the first begin with
`/projects/NAME`. A star marks a field that is required in a request, or that every answer has.
"""
SECTIONS = {  # in this order; a tag that is not here comes last, under its own name
    "teach": "Teach",
    "ask": "Ask, explain, correct",
    "classes": "Classes",
    "examples": "Examples",
    "inbox": "Inbox",
    "check": "Suspects and map",
    "evaluation": "Evaluation",
    "history": "History and versions",
    "project": "Project",
    "projects": "Several projects",
    "monitoring": "Monitoring",
}
OK = ("200", "201", "202")


def page() -> str:
    with tempfile.TemporaryDirectory() as folder, Project(folder, backbone="nano") as project:
        document = create_app(project).openapi()
    return "\n".join([HEAD, *_routes(document), *_errors(document), *_shapes(document["components"]["schemas"])])


def _routes(document: dict[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[tuple[str, dict[str, Any]]]] = {tag: [] for tag in SECTIONS}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append((f"{method.upper()} {path}", operation))
    for tag, operations in by_tag.items():
        yield f"## {SECTIONS.get(tag, tag)}\n"
        for name, operation in operations:
            yield from _route(name, operation, document["components"]["schemas"])


def _route(name: str, operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    if "description" in operation:
        yield f"{_one_line(operation['description'])}\n"
    rows = [
        (one["name"], one["required"], _type(one["schema"]), one.get("description", ""), one["schema"])
        for one in operation.get("parameters", [])
    ]
    body = next(iter(operation.get("requestBody", {}).get("content", {}).values()), None)
    if body is not None:
        rows += _fields(_resolved(body["schema"], schemas))
    if rows:
        yield _table(rows)
    answer = next(operation["responses"][code] for code in OK if code in operation["responses"])
    content = answer.get("content", {})
    made_of = [_type(one["schema"]) for kind, one in content.items() if kind == "application/json" and one["schema"]]
    others = [f"`{kind}`" for kind in content if kind != "application/json"]
    if made_of or others:
        yield f"Answer: {', '.join(made_of + others)}\n"


def _errors(document: dict[str, Any]) -> Iterator[str]:
    found: dict[str, str] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            found |= {code: one["description"] for code, one in operation["responses"].items() if code not in OK}
    yield "## Errors\n\nThe answer is a [Problem](#problem): a sentence, and what to do.\n"
    yield "\n".join(
        ["| status | meaning |", "|---|---|", *(f"| {code} | {found[code]} |" for code in sorted(found)), ""]
    )


def _shapes(schemas: dict[str, Any]) -> Iterator[str]:
    yield "## Shapes of requests and answers\n"
    for name, schema in sorted(schemas.items()):
        if not name.startswith("Body_"):  # forms stand at their routes
            yield f"### {name}\n"
            if "description" in schema:
                yield f"{_one_line(schema['description'])}\n"
            yield _table(_fields(schema))


def _fields(schema: dict[str, Any]) -> list[tuple[str, bool, str, str, dict[str, Any]]]:
    required = schema.get("required", [])
    return [
        (name, name in required, _type(field), field.get("description", ""), field)
        for name, field in schema.get("properties", {}).items()
    ]


def _table(rows: list[tuple[str, bool, str, str, dict[str, Any]]]) -> str:
    lines = ["| name | type | meaning |", "|---|---|---|"]
    for name, required, kind, said, schema in rows:
        default = schema.get("default")
        note = (
            ""
            if default in (None, "")
            else f" [default: {str(default).lower() if default in (True, False) else default}]"
        )
        lines.append(f"| `{name}`{' *' if required else ''} | {kind} | {_one_line(said)}{note} |".replace("  |", " |"))
    return "\n".join([*lines, ""])


def _type(schema: dict[str, Any]) -> str:
    """In words: text, number, file, a shape with a link, a list of them."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    if kind == "array":
        if "prefixItems" in schema:
            return "list: " + ", ".join(_type(one) for one in schema["prefixItems"])
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"object of {_type(values)}" if isinstance(values, dict) and values else "object"
    if kind == "string":
        return "file" if "contentMediaType" in schema or schema.get("format") == "binary" else "text"
    return {"integer": "whole number", "boolean": "true or false", "null": "null"}.get(kind, kind)


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    for one in schema.get("anyOf", []):  # a body that may be left out
        if "$ref" in one:
            schema = one
    return schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def _one_line(text: str) -> str:
    """As Markdown in one line; a page is linked where it is named."""
    line = " ".join(text.split()).replace("|", "\\|").replace("``", "`")
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", line)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
