"""The whole way of a paper: set-ups, searches, claims, figures, page.

The command line comes through here. Depends on all of the package.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from sojourn.backends.backend import Backend
from sojourn.common.resources import shown
from sojourn.errors import output_error
from sojourn.studies.papers.assess import assess
from sojourn.studies.papers.markdown import Document
from sojourn.studies.papers.model import Paper, folder_of
from sojourn.studies.papers.page import Report, show_figures, write_page, write_summary
from sojourn.studies.papers.search import run_search
from sojourn.studies.papers.setups import Tell, run_setup
from sojourn.studies.sweeps.local import LocalWorkers
from sojourn.studies.sweeps.scheduler import Workers


def run_paper(
    paper: Paper,
    folder: Path,
    *,
    quick: bool = False,
    workers: Callable[[], Workers] = LocalWorkers,
    tell: Tell = lambda _name, _state: None,
    linux: Backend | None = None,
) -> Report:
    """Runs what of the paper is not in `folder` yet and writes its page there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        measured = {
            setup.name: run_setup(
                setup,
                folder / folder_of(setup.name),
                quick=quick,
                workers=workers,
                tell=tell,
                linux=linux,
            )
            for setup in paper.setups
        }
        searches = [
            run_search(
                search, folder / folder_of(search.name), quick=quick, workers=workers, tell=tell
            )
            for search in paper.searches
        ]
        assessment = assess(paper, measured)
        figures = show_figures(paper, measured, assessment.published.claims, folder)
        report = Report(paper, measured, assessment, searches, figures, folder, quick)
        write_page(report)
    except OSError as error:
        raise output_error(error, shown(folder)) from error
    return report


def write_documents(reports: Sequence[Report], folder: Path, document: Path | None) -> None:
    """Writes the summary page into `folder`, and as a document with its pictures and tables."""
    try:
        write_summary(reports, folder)
        if document is None:
            return
        pictures = document.parent / document.stem
        pictures.mkdir(parents=True, exist_ok=True)
        for report in reports:
            for figure in report.figures:
                if figure.file:
                    target = pictures / f"{report.paper.name}-{figure.file}"
                    shutil.copyfile(report.folder / figure.file, target)
        text = Document(document.stem)
        document.write_text(text.markdown(reports), encoding="utf-8")
        for name, table in text.tables.items():
            (pictures / name).write_text(table, encoding="utf-8")
    except OSError as error:
        raise output_error(error, shown(folder)) from error
