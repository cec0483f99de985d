"""Rendering of task briefs from Markdown. HTML is shown as text, links as addresses, and images are dropped."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from podium.viewer.shown_text import clip

SHOWN_CHARACTERS = 40_000


@lru_cache(maxsize=32)
def render_markdown(text: str) -> Markup:
    """Render the beginning of a Markdown text, with its headings at level 3."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.add_render_rule("heading_open", lambda *_: "<h3>")
    parser.add_render_rule("heading_close", lambda *_: "</h3>")
    parser.add_render_rule("link_open", lambda *_: "")
    parser.add_render_rule("link_close", _address)
    return Markup(parser.render(clip(text, SHOWN_CHARACTERS).text))


def _address(_: object, tokens: Any, index: int, *__: object) -> str:
    """Return the address of a link as text, because pages must not link to other sites."""
    opening = next(token for token in reversed(tokens[:index]) if token.type == "link_open")
    address = str(opening.attrs.get("href", ""))
    said = "".join(token.content for token in tokens[tokens.index(opening) : index])
    return "" if said == address else f' <span class="quiet">({escape(address)})</span>'
