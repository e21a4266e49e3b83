from pathlib import Path

import pytest

from exll.errors import StreamError
from exll.streams.stream import Stream
from exll.streams.table import read_table


def table(folder: Path, content: str | bytes) -> Path:
    source = folder / "data.csv"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    return source


def labels(source: Path) -> list[str]:
    return [example.label for example in read_table(source)]


def test_lines_become_examples_with_paths_from_the_tables_folder(tmp_path: Path) -> None:
    content = "path,label,instance,video,frame\nmug/1.jpg,mug,red,walk,7\n../x.jpg,cup,,,\n"
    mug, cup = read_table(table(tmp_path, content))
    assert mug.path == tmp_path / "mug/1.jpg"
    assert mug.ref == str(mug.path)
    assert (mug.label, mug.instance, mug.video, mug.frame, mug.row) == ("mug", "red", "walk", 7, None)
    assert cup.ref == str(tmp_path / "../x.jpg")
    assert (cup.instance, cup.video, cup.frame) == (None, None, None)


def test_a_group_is_read_where_the_table_has_one(tmp_path: Path) -> None:
    examples = read_table(table(tmp_path, "path,label,group\n1.jpg,mug,shop 1\n2.jpg,mug,\n"))
    assert [example.group for example in examples] == ["shop 1", None]
    assert read_table(table(tmp_path, "path,label\n1.jpg,mug\n"))[0].group is None


def test_an_absolute_path_stays_as_it_is(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "1.jpg"
    assert read_table(table(tmp_path, f"path,label\n{elsewhere},mug\n"))[0].path == elsewhere


def test_the_order_is_that_of_the_lines(tmp_path: Path) -> None:
    assert labels(table(tmp_path, "path,label\nz,c\nb,a\na,b\nz,c\n")) == ["c", "a", "b", "c"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_comma_semicolon_and_tab_are_told_from_the_header(tmp_path: Path, separator: str) -> None:
    others = "".join({",", ";", "\t"} - {separator})
    content = separator.join(["label", "path"]) + "\n" + separator.join([f'"red{others}mug"', "1.jpg"]) + "\n"
    assert labels(table(tmp_path, content)) == [f"red{others}mug"]


def test_the_separator_is_the_one_that_finds_the_columns(tmp_path: Path) -> None:
    assert labels(table(tmp_path, "path;label;a,b,c,d,e\n1.jpg;mug;0\n")) == ["mug"]


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffpath,label\n1.jpg,käse\n",
        "path,label\r\n1.jpg,käse\r\n",
        "\n\npath,label\n\n   \n1.jpg,käse\n,\n\n",
        'path,label\n"1.jpg","käse"\n',
        "Path, Label \n1.jpg, käse \n",
        '"label", "path"\n"käse", "1.jpg"\n',
        "weight,label,path,colour\n3,käse,1.jpg,red",
        "path,label,\n1.jpg,käse,\n",
        "path,label,instance\n1.jpg,käse\n",
        "path,label\n1.jpg,ka\u0308se\n",
    ],
    ids=[
        "BOM",
        "CRLF",
        "blank lines",
        "quotes",
        "spaces",
        "spaces and quotes",
        "extra columns",
        "last comma",
        "short line",
        "decomposed",
    ],
)
def test_tables_as_programs_write_them_are_read_alike(tmp_path: Path, content: str) -> None:
    (example,) = read_table(table(tmp_path, content))
    assert (example.ref, example.label, example.instance) == (str(tmp_path / "1.jpg"), "käse", None)


def test_quoted_fields_may_hold_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    (example,) = read_table(table(tmp_path, 'path,label\n"a,b ""c"".jpg","two\nlines"\n'))
    assert (example.ref, example.label) == (str(tmp_path / 'a,b "c".jpg'), "two\nlines")


def test_minus_one_is_not_applicable_and_whole_floats_are_frames(tmp_path: Path) -> None:
    content = "path,label,instance,video,frame\n1.jpg,mug,-1,-1,-1\n1.jpg,mug,1,2,3.0\n"
    none, some = read_table(table(tmp_path, content))
    assert (none.instance, none.video, none.frame) == (None, None, None)
    assert (some.instance, some.video, some.frame) == ("1", "2", 3)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is empty; expected a header"),
        (" \n\n", "is empty; expected a header"),
        ("path,label\n\n", "it has a header only"),
        ("path,class\n1.jpg,mug\n", "has no column 'label'"),
        ("file;label\n1.jpg;mug\n", "has no column 'path'"),
        ("path,label,video,Label\n1.jpg,mug,,cup\n", "has two columns 'label'"),
        ("1.jpg,mug\n2.jpg,cup\n", "must begin with a header"),
        ("path,label\n1.jpg,mug\n\n2.jpg,\n", "line 4: the label is empty"),
        ("path,label\n1.jpg,  \n", "line 2: the label is empty"),
        ("path,label\n1.jpg\n", "line 2: the label is empty"),
        ("path,label\n,mug\n", "line 2: the path is empty"),
        ('path,label\n1.jpg,"two\nlines"\n,mug\n', "line 4: the path is empty"),
        ("path,label,frame\n1.jpg,mug,\n2.jpg,mug,x\n", "line 3: frame must be a whole number; got 'x'"),
        ("path,label,frame\n1.jpg,mug,1.5\n", "line 2: frame must be a whole number; got '1.5'"),
        ("path,label\na,b.jpg,mug\n", "line 2: 3 fields where the header has 2"),
        ('path,label\n1.jpg,mug\n2.jpg,"mug\n3.jpg,mug\n', "line 3: "),
        ("path,label\n" + "x" * 200_000 + ",mug\n", "line 2: "),
        ("x" * 200_000, "line 1: "),
        (b"path,label\n1.jpg,mug\n2.jpg,k\xe4se\n", "line 3: not UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    source = table(tmp_path, content)
    with pytest.raises(StreamError) as refusal:
        read_table(source)
    assert complaint in str(refusal.value)
    assert str(source) in str(refusal.value)


def test_a_table_may_name_regions(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "path,label,x0,y0,x1,y1\nshelf.jpg,kiwi,0,5,90,80\nshelf.jpg,lime,90,5,180,80.0\nwhole.jpg,mug,,,,\n"
    )
    kiwi, lime, mug = read_table(table)
    assert (kiwi.box, lime.box, mug.box) == ((0, 5, 90, 80), (90, 5, 180, 80), None)
    assert kiwi.path == lime.path
    assert kiwi.ref == f"{tmp_path / 'shelf.jpg'}#0,5,90,80"
    assert mug.ref == str(tmp_path / "whole.jpg")
    one, other, _ = Stream("table", read_table(table), table).digests
    assert one != other


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a.jpg,kiwi,0,5,90,", "line 2: a box needs all of x0, y0, x1, y1"),
        ("a.jpg,kiwi,0,5,9.5,8", "line 2: x1 must be"),
    ],
)
def test_half_a_box_is_named_with_its_line(row: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"path,label,x0,y0,x1,y1\n{row}\n")
    with pytest.raises(StreamError, match=message):
        read_table(tmp_path / "t.csv")
