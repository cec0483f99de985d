"""What mkdocs.yml calls while it builds the site: formulas become MathML, doctests become blocks of code."""

from __future__ import annotations

import html
import re
from typing import Any

from griffe import Extension, Object
from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
_DOCTEST = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


def on_page_content(content: str, **_: Any) -> str:
    """The page's HTML with every formula in MathML, which browsers show without a script."""
    return _FORMULA.sub(_as_mathml, content)


def _as_mathml(found: re.Match[str]) -> str:
    return convert(html.unescape(found[3]).strip(), display="block" if found[2] == "[" else "inline")


class FencedDoctests(Extension):
    """Puts fences around doctests, which Markdown would take for quotations."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _DOCTEST.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
