"""The briefs of tasks as HTML. Markup in them is shown as text, links as their addresses, and pictures not at all."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from podium.viewer.shown_text import clip

SHOWN_CHARACTERS = 40_000


@lru_cache(maxsize=32)
def render_markdown(text: str) -> Markup:
    """The beginning of a Markdown text; its headings stand below those of the page."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.add_render_rule("heading_open", lambda *_: "<h3>")
    parser.add_render_rule("heading_close", lambda *_: "</h3>")
    parser.add_render_rule("link_open", lambda *_: "")
    parser.add_render_rule("link_close", _address)
    return Markup(parser.render(clip(text, SHOWN_CHARACTERS).text))


def _address(_: object, tokens: Any, index: int, *__: object) -> str:
    """Where a link leads, after its text: pages here lead nowhere else."""
    opening = next(token for token in reversed(tokens[:index]) if token.type == "link_open")
    address = str(opening.attrs.get("href", ""))
    said = "".join(token.content for token in tokens[tokens.index(opening) : index])
    return "" if said == address else f' <span class="quiet">({escape(address)})</span>'
