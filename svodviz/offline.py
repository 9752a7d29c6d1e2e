"""Converts an executed notebook to a page that stays interactive without network and kernel.

    jupyter nbconvert --to svodviz.offline.OfflineExporter notebook.ipynb

The notebook keeps the data of each explorer that it shows. `OfflineExplorers` puts a page of its
own in the place of each, inside an <iframe> whose content is part of the file; the script in it is
this package's, not what the notebook has saved. The address of the page names the explorer that
was used last, and the place in it (see `js/frame/around.js`). Where the data of one is missing
nothing is written: the error says which cells lack it and how to mend that. Who wants what there is
asks for pictures in its place, with the same words above each:

    jupyter nbconvert --to svodviz.offline.OfflineExporter --OfflineExplorers.pictures=True …

`OfflineExporter` also leaves out what nbconvert would load from elsewhere: formulas stay as they
are written.
"""

import copy
import re
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import Preprocessor
from nbconvert.utils.exceptions import ConversionException
from traitlets import Bool, default
from traitlets.config import Config

from svodviz.comparing.comparison_wire import FORMAT as COMPARISON
from svodviz.comparing.comparison_wire import VERSION as COMPARISON_VERSION
from svodviz.exporting.export import export_html
from svodviz.exporting.picture import stand_ins
from svodviz.exporting.script import around_script
from svodviz.foundation.escape import markup, visible
from svodviz.foundation.packing import unpacked
from svodviz.quizzes.quiz import FORMAT as QUIZ
from svodviz.quizzes.quiz import VERSION as QUIZ_VERSION
from svodviz.wire.later import joined
from svodviz.wire.payload import FORMAT, VERSION

if TYPE_CHECKING:
    from svodviz.data import pages

VIEW = "application/vnd.jupyter.widget-view+json"
SAVED = "application/vnd.jupyter.widget-state+json"
HEIGHT = 720  # pixels of an explorer in the page
VERSIONS = {
    FORMAT: VERSION,
    COMPARISON: COMPARISON_VERSION,
    QUIZ: QUIZ_VERSION,
}

# The text that stands in for a widget of ours: all that tells of one that was not saved.
WORDS = re.compile(r"Explorer of compilation .*|.* side by side: .*|Quiz of .*", re.DOTALL)
UNSAVED = "the notebook was saved without its data"
DAMAGED = "its data cannot be unpacked"
OTHER_VERSION = "its data was saved by another version of svodviz"
AGAIN = (
    "Run its cell again and save the notebook, or run all of it: "
    "jupyter nbconvert --execute --to notebook --inplace notebook.ipynb"
)
INSTEAD = "For a page with pictures in their place: --OfflineExplorers.pictures=True"

Saved: TypeAlias = dict[str, Any]
"""A part of a notebook's JSON, which is untrusted."""


class Notebook(Protocol):
    """The parts of a notebook that are read."""

    metadata: Saved
    cells: list[Saved]


class LostExplorers(ConversionException):
    """Raised for a notebook with explorers whose data it lacks."""


class OfflineExplorers(Preprocessor):
    """Replaces every explorer of a notebook by its page; others' widgets stay as they are.

    Raises LostExplorers where one cannot be shown, unless `pictures` are asked for.
    """

    pictures = Bool(False, help="whether a picture stands in for an explorer that was not saved")
    pictures.tag(config=True)

    def preprocess(self, notebook: Notebook, resources: Saved) -> tuple[Notebook, Saved]:
        """The notebook with pages in the place of explorers."""
        notebook = copy.deepcopy(notebook)
        saved = notebook.metadata.get("widgets", {}).get(SAVED, {}).get("state", {})
        states = {key: it.get("state", {}) for key, it in saved.items()}
        pages = {key: page for key, state in states.items() if (page := page_of(state))}
        outputs = [
            (number, output)
            for number, cell in enumerate(notebook.cells, start=1)
            for output in cell.get("outputs", ())
        ]
        explorers = [(number, self._replace(it, pages, states)) for number, it in outputs]
        self._tell([(number, why) for number, why in explorers if why is not None])
        for key in pages:
            del saved[key]
        framed = [it for (_, it), (_, why) in zip(outputs, explorers, strict=True) if why == ""]
        for first in framed[:1]:  # it brings along what keeps the address of the page for all
            script = around_script("iframe.svodviz-page")
            first["data"]["text/html"] += f'<script type="module">\n{script}</script>'
        if pages and not _has_other_views(notebook):
            # Without widgets of others nbconvert need not load what draws these.
            notebook.metadata.pop("widgets", None)
        return notebook, resources

    def _replace(
        self, output: Saved, pages: dict[str, str], states: dict[str, Saved]
    ) -> str | None:
        """Puts a page into an output, or says why it has none: "" if it has, None for others'."""
        data = output.get("data", {})
        key = data.get(VIEW, {}).get("model_id", "")
        if key in pages:
            data["text/html"] = frame(pages[key])
            for form in (VIEW, "image/svg+xml"):
                data.pop(form, None)
            return ""
        why = why_lost(data, states.get(key)) if key else None
        if why:
            data["text/html"] = note(why) + _picture(data)
            data.pop(VIEW)
        return why

    def _tell(self, explorers: list[tuple[int, str]]) -> None:
        """Print the number of explorers, and the cells of those that are lost."""
        lost = [(number, why) for number, why in explorers if why]
        counts = f"svodviz: {_counted(len(explorers))}, {len(explorers) - len(lost)} interactive"
        if not lost:
            self.log.info(counts)
            return
        cells = "; ".join(f"cell {number}: {why}" for number, why in lost)
        if not self.pictures:
            raise LostExplorers(f"{counts}, {len(lost)} lost. {cells}. {AGAIN}. {INSTEAD}")
        self.log.warning("%s, %s only a picture. %s. %s", counts, len(lost), cells, AGAIN)


def _has_other_views(notebook: Notebook) -> bool:
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return any(VIEW in output.get("data", {}) for output in outputs)


def _counted(number: int) -> str:
    return f"{number} explorer{'' if number == 1 else 's'}"


def why_lost(data: Saved, state: Saved | None) -> str | None:
    """The reason why one of our widgets is no page; None for other widgets. `state` is None if
    none was saved."""
    if state is None:
        return UNSAVED if _is_ours(data) else None
    wire = _plain(state.get("wire"))
    if not wire and state.get("wire") and _is_ours(data):
        return DAMAGED
    return OTHER_VERSION if wire.get("format") in VERSIONS else None


def _is_ours(data: Saved) -> bool:
    return WORDS.fullmatch(_text(data.get("text/plain", ""))) is not None


def _text(lines: str | list[str]) -> str:
    """A notebook's text, which its file may hold as a list of lines."""
    return lines if isinstance(lines, str) else "".join(lines)


def note(why: str) -> str:
    """The words of a page above the picture of an explorer that it lacks."""
    words = f"This explorer is a picture only: {why}. {AGAIN}"
    style = "border-left: 4px solid #bf3a00; padding: 4px 10px; font-family: sans-serif"
    return f'<p class="svodviz-lost" role="note" style="{style}">{markup(words)}</p>'


def _picture(data: Saved) -> str:
    """The fallback for the explorer: its picture, else its text."""
    if "text/html" in data:
        return _text(data["text/html"])
    words = _text(data.get("text/plain", ""))
    if "image/svg+xml" in data:
        return stand_ins(words, _text(data["image/svg+xml"]), words)["text/html"]
    return f"<pre>{markup(visible(words))}</pre>"


def page_of(state: Saved) -> str:
    """The page of one widget's saved state; "" where it is no explorer that can be shown."""
    data = _plain(state.get("wire"))
    if not data or VERSIONS.get(str(data.get("format"))) != data.get("version"):
        # Another's widget, or one saved by another version: its picture stays.
        return ""
    page = cast("pages.Page", data)  # of this very version
    if page["format"] == FORMAT:
        page = joined(page, cast("pages.Later", _plain(state.get("later"))))
    return export_html(page, state=state.get("state") or {}, maker="notebook")


def _plain(saved: object) -> Saved:
    """Data of a page as a notebook has it, compressed or not; empty where it is none."""
    try:
        data: object = unpacked(saved) if isinstance(saved, str) else saved
    except ValueError:  # damaged, or far too large: anybody may have written it
        return {}
    return data if isinstance(data, dict) else {}


def frame(page: str) -> str:
    """A page inside another one. It may run its scripts, and what its reader copies or saves leaves
    it; it reaches nothing around it."""
    return (
        f'<iframe class="svodviz-page" title="svodviz explorer" '
        f'sandbox="allow-scripts allow-downloads" allow="clipboard-write" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0" srcdoc="{markup(page)}"></iframe>'
    )


class OfflineExporter(HTMLExporter):
    """HTML in one file that asks the network for nothing."""

    export_from_notebook = "HTML with svodviz explorers, offline"

    @default("template_name")
    def _template(self) -> str:
        return "lab"

    @property
    def default_config(self) -> Config:
        """The HTML exporter of nbconvert, with our preprocessor and without external links."""
        config = Config({
            "HTMLExporter": {
                "preprocessors": ["svodviz.offline.OfflineExplorers"],
                "require_js_url": "",
                "jquery_url": "",
                "mathjax_url": "",
                "jupyter_widgets_base_url": "",
            }
        })  # fmt: skip
        merged: Config = super().default_config
        merged.merge(config)
        return merged
