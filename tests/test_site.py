"""The site: every page builds without a warning, its notebook runs, and every internal link has a
target. Links to other hosts are not followed."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

pytest.importorskip("myst_nb", reason="make docs installs what the site needs")

DOCS = Path(__file__).parent.parent / "docs"


class Page(HTMLParser):
    """What a page links to, and what in it can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if name := given.get("id"):
            self.anchors.add(name)
        for key in ("href", "src"):
            if link := given.get(key):
                self.links.append(link)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def test_no_link_within_the_site_leads_nowhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) > 30
    assert list(broken(pages)) == []


def test_a_search_shows_the_text_around_its_terms_where_the_site_is_read_from_files(
    site: Path,
) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    for query, page, snippet in (
        ("halving recirculation", "papers.html", "recirculat"),
        ("INGRESS", "", "ingress"),
    ):
        url = f"{(site / 'search.html').as_uri()}?q={quote(query)}"
        options = ["--headless", "--no-sandbox", "--virtual-time-budget=5000", "--dump-dom"]
        shown = subprocess.run(
            [browser, *options, url], capture_output=True, text=True, check=True, timeout=120
        ).stdout
        found = re.findall(r'<p class="context">(.*?)</p>', shown, re.DOTALL)
        assert any(snippet in text.lower() for text in found), (query, shown[-3000:])
        assert page in shown


def broken(pages: dict[Path, Page]) -> Iterator[str]:
    """Each link to a page, picture or heading that is not there."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            lost = known and parts.fragment and unquote(parts.fragment) not in known.anchors
            if lost or not target.exists():
                yield f"{path.name}: {link}"


def test_the_notebook_s_cells_have_run(site: Path) -> None:
    page = (site / "tutorials/notebook.html").read_text()
    assert page.count("cell_output") >= 8
    assert page.count("<img") >= 3


def test_the_page_of_commands_has_every_command_and_option(site: Path) -> None:
    from sojourn.cli.shared import COMMANDS

    page = (site / "commands.html").read_text()
    for name in COMMANDS:
        assert f'id="sojourn-{name}"' in page
    assert "--no-report" in page


def test_every_page_is_in_the_index(site: Path) -> None:
    listed = (DOCS / "index.md").read_text().split("\n")
    pages = {str(path.relative_to(DOCS).with_suffix("")) for path in DOCS.rglob("*.md")}
    assert pages - set(listed) == {"index"}
