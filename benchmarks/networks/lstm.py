"""An LSTM, step by step."""

from benchmarks.networks.library import Library, Value
from benchmarks.networks.network import Network, normal


def lstm(steps: int = 64, hidden: int = 256, batch: int = 1) -> Network:
    """The hidden states of all steps."""

    def program(f: Library, x: Value) -> Value:
        return f.lstm(x, "lstm", hidden, hidden)

    about = f"{hidden} × {steps} steps, batch {batch}"
    return Network("lstm", about, program, lambda: {"x": normal(steps, batch, hidden)})
