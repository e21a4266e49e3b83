"""A CSV with one image per line: ``path,label[,instance,video,frame,group,x0,y0,x1,y1]``."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from exll.errors import StreamError
from exll.features.regions import PixelBox, region_ref
from exll.streams.example import Example, composed

SEPARATORS = ",;\t"
REQUIRED = ("path", "label")
OPTIONAL = ("instance", "video", "frame", "group")
BOX = ("x0", "y0", "x1", "y1")  # of the region that the label is for, in pixels of the upright image


def read_table(source: Path) -> list[Example]:
    """The examples in the order of the lines; whether the images exist is found when they are read.

    Paths are relative to the CSV's folder. The header decides between comma, semicolon and tab; columns with other
    names are ignored. An empty field, or -1 as in our features files, means "not applicable".
    """
    text = _text(source)
    rows = _rows(source, text, _separator(text))
    _, header = next(rows, (1, []))
    columns = {name: i for i, name in enumerate(_names(header))}
    for name in (*REQUIRED, *OPTIONAL, *BOX):
        count = _names(header).count(name)
        if count > 1 or (count == 0 and name in REQUIRED):
            raise StreamError(
                f"{source} must begin with a header that names the columns path and label once; "
                f"its first line has {'two columns' if count else 'no column'} {name!r}: {header}."
            )
    examples = []
    for line, row in rows:
        if len(row) > len(header) and any(row[len(header) :]):
            raise StreamError(
                f"{source}, line {line}: {len(row)} fields where the header has {len(header)}. "
                "A field with a separator in it must be quoted."
            )
        fields = {name: row[i] if i < len(row) else "" for name, i in columns.items()}
        for name in REQUIRED:
            if not fields[name].strip():
                raise StreamError(f"{source}, line {line}: the {name} is empty.")
        path = source.parent / fields["path"]
        instance, video, frame, group = (_applicable(fields.get(name, "")) for name in OPTIONAL)
        box = _box(fields, source, line)
        examples.append(
            Example(
                region_ref(str(path), box),
                composed(fields["label"].strip()),
                path=path,
                instance=instance,
                video=video,
                frame=None if frame is None else _whole(frame, "frame", source, line),
                box=box,
                group=group,
            )
        )
    if not examples:
        raise StreamError(f"{source} must have a line for each image, like mug/1.jpg,mug; it has a header only.")
    return examples


def _text(source: Path) -> str:
    try:
        content = source.read_bytes()
    except OSError as error:
        raise StreamError(f"{source} cannot be read: {error.strerror or error}.") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StreamError(f"{source}, line {line}: not UTF-8. Save the table as UTF-8.") from error
    if not text.strip():
        raise StreamError(f"{source} is empty; expected a header such as path,label and a line for each image.")
    return text


def _separator(text: str) -> str:
    """The one that finds the required columns in the header, else the one that splits it into the most."""
    header = next(line for line in text.splitlines() if line.strip())

    def fit(separator: str) -> tuple[bool, int]:
        try:
            names = _names(next(csv.reader([header], delimiter=separator, skipinitialspace=True)))
        except csv.Error:
            names = []
        return set(REQUIRED) <= set(names), len(names)

    return max(SEPARATORS, key=fit)


def _names(header: list[str]) -> list[str]:
    return [name.strip().lower() for name in header]


def _rows(source: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    line = 1
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise StreamError(f"{source}, line {line}: {error}.") from error


def _applicable(field: str) -> str | None:
    name = composed(field.strip())
    return None if name in ("", "-1") else name


def _box(fields: dict[str, str], source: Path, line: int) -> PixelBox | None:
    """All four columns, or none of them; whether the box lies in the image is found when that is read."""
    given = [field for name in BOX if (field := _applicable(fields.get(name, ""))) is not None]
    if not given:
        return None
    if len(given) < len(BOX):
        raise StreamError(f"{source}, line {line}: a box needs all of {', '.join(BOX)}.")
    left, top, right, bottom = (_whole(fields[name].strip(), name, source, line) for name in BOX)
    return left, top, right, bottom


def _whole(field: str, name: str, source: Path, line: int) -> int:
    # pandas writes whole numbers as 5.0 when another row of the column is empty.
    number = re.fullmatch(r"([+-]?[0-9]{1,18})(\.0*)?", field)
    if number is None:
        raise StreamError(f"{source}, line {line}: {name} must be a whole number; got {field!r}.")
    return int(number[1])
