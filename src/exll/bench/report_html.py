"""A report as one HTML file, pictures inside, for light, dark, paper and phone."""

from exll.bench.report import Report
from exll.bench.tables import MARKS
from exll.explain.page import render


def html(report: Report) -> str:
    return render("report.html", report=report, marks=MARKS)
