"""The base class of this package's widgets: scripts, data, and closing."""

from collections.abc import Callable
from typing import TypeAlias

import anywidget
import traitlets

from svodviz.exporting.script import style_sheet, widget_module
from svodviz.foundation.packing import packed_trait

MimeBundle: TypeAlias = tuple[dict[str, object], dict[str, object]]
"""The data of a display by MIME type, and their metadata."""


class PageWidget(anywidget.AnyWidget):
    """A page of ours in a notebook.

    `wire` is what it shows, `state` what its reader chose. `ended` is set by `close`.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    wire = packed_trait()
    state = traitlets.Dict().tag(sync=True)
    ended = traitlets.Bool(False).tag(sync=True)

    def __init__(self, **traits: object) -> None:
        super().__init__(_esm=widget_module(), _css=style_sheet(), **traits)

    def _bundle(self, **arguments: object) -> "MimeBundle":
        """The data that anywidget shows of the widget; where it shows nothing, an empty bundle."""
        show: Callable[..., object] = super()._repr_mimebundle_
        answer = show(**arguments)
        data, metadata = answer if isinstance(answer, tuple) else (answer or {}, {})
        return dict(data), metadata

    def close(self) -> None:
        """Stops answering. The page stays as it is and states that it was closed.

        A notebook removes the views of a closed comm; so it gets no message when ours closes.
        """
        if self.comm is None:
            return
        self.ended = True
        self.comm.publish_msg = lambda *_, **__: None
        super().close()
