"""The widget of a comparison: two compilations side by side, in a notebook or as a page."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import traitlets

from svodviz.comparing.compare import compare
from svodviz.comparing.comparison import COMPARED, DECIDING, Comparison, comparison_text
from svodviz.comparing.comparison_picture import still_of_two
from svodviz.comparing.comparison_wire import comparison_wire, figure_row
from svodviz.comparing.figures import measured_figure
from svodviz.data.states import SidesState, names_of
from svodviz.exporting.export import Maker, export_html
from svodviz.exporting.page_widget import PageWidget
from svodviz.exporting.picture import stand_ins
from svodviz.foundation.escape import markup
from svodviz.foundation.requests import Arguments, Progress, request, respond

if TYPE_CHECKING:
    from traitlets.utils.bunch import Bunch

    from compiler.program.compilation import Compilation
    from svodviz.data import pages
    from svodviz.exporting.page_widget import MimeBundle

TABS = ("changes", "graphs", "texts")
STATE_NAMES = names_of(SidesState)


class SideBySide(PageWidget):
    """Two compilations side by side.

    `state` is a dict of tab ("changes", "graphs" or "texts"), stage, unit (position of a pair of
    kernels) and selected ("a graph:3": an entity of one side). Assigning some of its names changes
    only those.
    """

    def __init__(self, comparison: Comparison, **state: object) -> None:
        self.comparison = comparison
        data = comparison_wire(comparison)
        super().__init__(wire=data, state=state)
        self.on_msg(lambda _, content, buffers: respond(self, content, self.send))

    @property
    def compilation(self) -> "Compilation":
        """The second compilation: what commands that take one work on."""
        return self.comparison.b

    @traitlets.validate("state")
    def _sound_state(self, proposal: "Bunch") -> dict[str, object]:
        """The state as it becomes: what is not named stays; TraitError for what cannot be."""
        wanted: dict[str, object] = proposal["value"]
        unknown = sorted(set(wanted) - set(STATE_NAMES))
        if unknown:
            raise traitlets.TraitError(f"state: unknown {unknown}; names are {list(STATE_NAMES)}")
        for name, allowed in (("tab", TABS), ("stage", COMPARED)):
            if wanted.get(name, allowed[0]) not in allowed:
                raise traitlets.TraitError(
                    f"state: {name} is {wanted[name]!r}; expected one of {list(allowed)}"
                )
        return {**self.state, **wanted}

    def export_html(self, path: str | Path | None = None, *, maker: Maker = "Python") -> str:
        """The comparison as one HTML page without requests, in its present state.

        Returns the page's text, and writes it to `path` where one is given.
        """
        words = f"<pre>{markup(comparison_text(self.comparison))}</pre>"
        data = cast("pages.ComparisonWire", self.wire)
        return export_html(data, path, state=self.state, picture=words, maker=maker)

    def __repr__(self) -> str:
        a, b = self.comparison.names
        stages = ("passes", *DECIDING)
        differing = [it for it in stages if self.comparison.differs(it)]
        words = f"differ in {', '.join(differing)}" if differing else "no difference"
        return f"{a} and {b} side by side: {words}"

    def _repr_mimebundle_(self, **arguments: object) -> "MimeBundle":
        """The widget with what stands in for it where no widget can run."""
        data, metadata = self._bundle(**arguments)
        words = repr(self)
        return data | stand_ins(words, still_of_two(self.comparison), words), metadata


def side_by_side(a: object, b: object, *, measure: bool = False, **state: object) -> SideBySide:
    """The widget that compares two tensors or compilations; `measure` also runs both."""
    return SideBySide(compare(a, b, measure=measure), **state)


@request("measure_both")
def measure_both(shown: SideBySide, arguments: Arguments, progress: Progress) -> "pages.FigureRow":
    """Runs both programs alternately; the time of one run of each."""
    progress("running both")
    return figure_row(measured_figure(shown.comparison.a, shown.comparison.b))
