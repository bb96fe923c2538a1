"""What `make docs` adds to the pages of docs/.

README is the first page; the notebooks, CONTRIBUTING and CHANGELOG are pages too; the reference is
made from docstrings and from the command line's help. Links are those of the repository: here they
are turned into the site's, and the files that they name are copied.
"""

import csv
import importlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = "docs"
PACKAGES = ("ginrummy_env", "ginrummy_agents", "ginrummy_training")

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
"""Pages outside docs/, and where they are on the site."""

NOTEBOOKS = [f"notebooks/{path.name}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]

LINK = re.compile(r"(?P<text>\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
ANCHOR = re.compile(r"\]\(#(?P<anchor>[^)\s]+)\)")

MOST_ROWS = 30
"""Longer tables are only linked to."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put notebooks, reference and pages that are not named into the navigation."""
    reference = [
        {package: [{name.removeprefix(f"{package}."): _reference(name)}
                   for name in public_modules(package)]}
        for package in PACKAGES
    ]  # fmt: skip
    notebooks = [site_path(path) for path in NOTEBOOKS]
    config.nav = _filled(config.nav, {"reference": reference, "notebooks": notebooks})
    named = set(_leaves(config.nav))
    left = [
        path.name for path in sorted(Path(config.docs_dir).glob("*.md")) if path.name not in named
    ]
    if left:
        config.nav.append({"More": left})
    return config


def _filled(nav: Any, parts: dict[str, Any]) -> Any:
    """Return a navigation whose placeholders are replaced."""
    if isinstance(nav, list):
        return [_filled(each, parts) for each in nav]
    if isinstance(nav, dict):
        return {title: _filled(each, parts) for title, each in nav.items()}
    return parts.get(nav, nav)


def _leaves(nav: Any) -> Iterator[str]:
    """Yield the pages of a navigation."""
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from _leaves(each)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and every file that a page names."""
    texts = {f"{DOCS}/{file.src_uri}": file.content_string for file in files.documentation_pages()}

    def add(uri: str, content: str | bytes) -> None:
        files.append(File.generated(config, uri, content=content))

    for source, uri in PAGES.items():
        texts[source] = (ROOT / source).read_text(encoding="utf-8")
        add(uri, texts[source])
    for source in NOTEBOOKS:
        texts[source], pictures = notebook_page(ROOT / source)
        add(site_path(source), texts[source])
        for name, data in pictures.items():
            add(f"{source.removesuffix('.ipynb')}/{name}", data)
    for package in PACKAGES:
        for name in public_modules(package):
            add(_reference(name), reference_page(name))
    add("reference/command_line.md", command_line_page())

    named = {repository_path(source, found["target"])
             for source, text in texts.items() for found in LINK.finditer(text)}  # fmt: skip
    for path in sorted(named - texts.keys()):
        if path.startswith(f"{DOCS}/"):
            continue
        if (ROOT / path).is_dir():
            add(site_path(path), folder_page(path))
            for file in sorted((ROOT / path).iterdir()):
                add(f"{path}/{file.name}", file.read_bytes())
        elif (ROOT / path).is_file():
            add(site_path(path), (ROOT / path).read_bytes())
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the links of the repository into those of the site."""
    uri = page.file.src_uri
    source = next(
        (each for each in (*PAGES, *NOTEBOOKS) if site_path(each) == uri), f"{DOCS}/{uri}"
    )

    def turned(found: re.Match[str]) -> str:
        path = repository_path(source, found["target"])
        if not (ROOT / path).exists():
            return found[0]
        target = posixpath.relpath(site_path(path), posixpath.dirname(uri) or ".")
        return f"{found['text']}{target}{found['anchor'] or ''})"

    markdown = LINK.sub(turned, markdown)
    # Jupyter's anchors keep capitals and signs.
    return ANCHOR.sub(lambda found: f"](#{_slug(found['anchor'])})", markdown)


def _slug(anchor: str) -> str:
    return re.sub(r"[^\w-]", "", anchor).strip("-").lower()


def repository_path(source: str, target: str) -> str:
    """Return what a link names, from the root of the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))


def site_path(path: str) -> str:
    """Return where a file or folder of the repository is on the site."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    if path.endswith(".ipynb"):
        return path.removesuffix(".ipynb") + ".md"
    return f"{path}.md" if (ROOT / path).is_dir() else path


def notebook_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and its pictures by name."""
    from nbconvert import MarkdownExporter

    text, resources = MarkdownExporter().from_filename(str(path))
    pictures = {name: bytes(data) for name, data in resources["outputs"].items()}
    for name in pictures:
        text = text.replace(f"]({name})", f"]({path.stem}/{name})")
    return text, pictures


def folder_page(path: str) -> str:
    """Return a page that shows a folder of results: figures, short tables, links to all files."""
    lines = [f"# {path}", ""]
    names = sorted(file.name for file in (ROOT / path).iterdir())
    base = posixpath.basename(path)
    for name in names:
        if name.endswith(".png"):
            lines += [f"![{name}]({base}/{name})", ""]
    for name in names:
        if name.endswith(".csv"):
            rows = list(csv.reader((ROOT / path / name).read_text(encoding="utf-8").splitlines()))
            if len(rows) <= MOST_ROWS:
                rows.insert(1, ["---"] * len(rows[0]))
                lines += [f"## {name}", ""]
                lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
    lines += ["## Files", ""] + [f"- [{name}]({base}/{name})" for name in names]
    return "\n".join(lines) + "\n"


def public_modules(package: str) -> list[str]:
    """Return a package and what is public in it: packages and modules, by their full names."""
    names = [package]
    module: Any = importlib.import_module(package)
    folder = Path(module.__file__).parent
    for name in sorted(
        {*module.__all__, *(path.parent.name for path in folder.glob("*/__init__.py"))}
    ):
        if (folder / name / "__init__.py").exists():
            names += public_modules(f"{package}.{name}")
        elif (folder / f"{name}.py").exists():
            names.append(f"{package}.{name}")
    return names


def _reference(name: str) -> str:
    return f"reference/{name}.md"


def reference_page(name: str) -> str:
    """Return the page of a module or package, to be filled from docstrings."""
    below = [each for each in public_modules(name.split(".")[0]) if each.startswith(f"{name}.")]
    below = [each for each in below if each.count(".") == name.count(".") + 1]
    lines = [f"::: {name}"]
    if below:
        members = [each for each in importlib.import_module(name).__all__
                   if f"{name}.{each}" not in below]  # fmt: skip
        lines += ["    options:", f"      members: {members}", "", "Modules:", ""]
        lines += [f"- [`{each}`]({each}.md)" for each in below]
    return "\n".join(lines) + "\n"


def command_line_page() -> str:
    """Return the help of every command."""
    from ginrummy_training.cli.main import COMMANDS, overview, parser_of

    lines = ["# Command line", "", "```text", overview(), "```"]
    for command in COMMANDS:
        lines += ["", f"## ginrummy {command}", "", "```text"]
        lines += [parser_of(command).format_help().rstrip(), "```"]
    return "\n".join(lines) + "\n"
