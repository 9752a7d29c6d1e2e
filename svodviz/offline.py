"""From an executed notebook to a page that stays interactive without network and kernel.

    jupyter nbconvert --to svodviz.offline.OfflineExporter notebook.ipynb

The notebook keeps the data of each explorer that it shows. `OfflineExplorers` puts a page of its
own in the place of each, inside an <iframe> whose content is part of the file; the script in it is
this package's, not what the notebook has saved. `OfflineExporter` also leaves out what nbconvert
would load from elsewhere: formulas stay as they are written.
"""

import copy
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import Preprocessor
from traitlets import default
from traitlets.config import Config

from svodviz.comparison_wire import FORMAT as COMPARISON
from svodviz.comparison_wire import VERSION as COMPARISON_VERSION
from svodviz.escape import markup
from svodviz.export import export_html
from svodviz.later import joined
from svodviz.packing import unpacked
from svodviz.quiz import FORMAT as QUIZ
from svodviz.quiz import VERSION as QUIZ_VERSION
from svodviz.wire import FORMAT, VERSION

VIEW = "application/vnd.jupyter.widget-view+json"
SAVED = "application/vnd.jupyter.widget-state+json"
HEIGHT = 720  # pixels of an explorer in the page
VERSIONS = {
    FORMAT: VERSION,
    COMPARISON: COMPARISON_VERSION,
    QUIZ: QUIZ_VERSION,
}

State = dict[str, Any]


class OfflineExplorers(Preprocessor):  # type: ignore[misc]
    """Replaces every explorer of a notebook by its page; others' widgets stay as they are."""

    def preprocess(self, notebook: Any, resources: State) -> tuple[Any, State]:
        """The notebook with pages in the place of explorers."""
        notebook = copy.deepcopy(notebook)
        saved = notebook.metadata.get("widgets", {}).get(SAVED, {}).get("state", {})
        pages = {key: page for key, it in saved.items() if (page := page_of(it.get("state", {})))}
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                self._replace(output, pages)
        for key in pages:
            del saved[key]
        if pages and not _has_other_views(notebook):
            # Without widgets of others nbconvert need not load what draws these.
            notebook.metadata.pop("widgets", None)
        return notebook, resources

    def _replace(self, output: Any, pages: dict[str, str]) -> None:
        data = output.get("data", {})
        key = data.get(VIEW, {}).get("model_id", "")
        if key not in pages:
            return
        for form in (VIEW, "image/svg+xml"):
            data.pop(form, None)
        data["text/html"] = frame(pages[key])


def _has_other_views(notebook: Any) -> bool:
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return any(VIEW in output.get("data", {}) for output in outputs)


def page_of(state: State) -> str:
    """The page of one widget's saved state; "" where it is no explorer that can be shown."""
    data = _plain(state.get("wire"))
    if not isinstance(data, dict) or VERSIONS.get(str(data.get("format"))) != data.get("version"):
        # Another's widget, or one saved by another version: its picture stays.
        return ""
    if data["format"] == FORMAT:
        data = joined(data, _plain(state.get("later")) or {})
    return export_html(data, state=state.get("state") or {})


def _plain(saved: Any) -> Any:
    return unpacked(saved) if isinstance(saved, str) else saved


def frame(page: str) -> str:
    """A page inside another one. It may run its scripts, and reaches nothing around it."""
    return (
        f'<iframe class="svodviz-page" title="svodviz explorer" sandbox="allow-scripts" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0" srcdoc="{markup(page)}"></iframe>'
    )


class OfflineExporter(HTMLExporter):  # type: ignore[misc]
    """HTML in one file that asks the network for nothing."""

    export_from_notebook = "HTML with svodviz explorers, offline"

    @default("template_name")
    def _template(self) -> str:
        return "lab"

    @property
    def default_config(self) -> Config:
        """nbconvert's own, with our preprocessor and without addresses."""
        config = Config({
            "HTMLExporter": {
                "preprocessors": ["svodviz.offline.OfflineExplorers"],
                "require_js_url": "",
                "jquery_url": "",
                "mathjax_url": "",
                "jupyter_widgets_base_url": "",
            }
        })  # fmt: skip
        merged = super().default_config
        merged.merge(config)
        return merged
