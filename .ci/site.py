"""The site has the README and CONTRIBUTING as pages too, and loads nothing from the network.

mkdocs calls these functions; see `hooks` in mkdocs.yml.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

TOP = Path(__file__).parents[1]
BESIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
LOG = logging.getLogger("mkdocs.plugins.site")  # a warning of its ends a strict build


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that stand at the top of the repository."""
    for name, page in BESIDE.items():
        text = (TOP / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Turn links between the top of the repository and docs/ into links of the site."""
    markdown = re.sub(r"\]\((?:\.\./)?docs/", "](", markdown)
    markdown = markdown.replace("[CHANGELOG](CHANGELOG.md)", "CHANGELOG.md")  # no page of the site
    for name, page in BESIDE.items():
        markdown = re.sub(rf"\]\((?:\.\./)?{re.escape(name)}", f"]({page}", markdown)
    return markdown


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Warn of what a page would load from the network."""
    loaded = re.findall(
        r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"?(https?://[^\s\">]+)", output
    )
    if loaded:
        LOG.warning("%s loads %s", page.file.src_uri, ", ".join(loaded))
    return output
