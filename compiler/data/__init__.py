"""Batches for training, and a progress bar.

    for x, y in data.progress(data.batches((images, labels), 128, shuffle=True)):
        …

In order: each imports only what stands before it.

    batches.py   examples in batches, prefetched on a thread
    progress.py  a progress bar with the loss and examples per second
"""

from compiler.data.batches import batches as batches
from compiler.data.batches import prefetch as prefetch
from compiler.data.progress import Progress as Progress
from compiler.data.progress import progress as progress
