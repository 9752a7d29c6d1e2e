"""Optimisers: they update parameters in place by the collected gradients.

    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

Update rules are PyTorch's. A step updates all parameters in one program. The learning rate is an
input of the program: changing it does not recompile.

In order: each imports only what stands before it.

    optimizer.py  parameter groups, their state, saving and loading
    descent.py    gradient descent with momentum
    adam.py       Adam and AdamW
    schedules.py  learning rate schedules
    clipping.py   gradient clipping
"""

from compiler import roots
from compiler.optim.adam import Adam as Adam
from compiler.optim.adam import AdamW as AdamW
from compiler.optim.clipping import clip_grad_norm as clip_grad_norm
from compiler.optim.clipping import clip_grad_value as clip_grad_value
from compiler.optim.descent import SGD as SGD
from compiler.optim.optimizer import Optimizer as Optimizer
from compiler.optim.schedules import Schedule as Schedule
from compiler.optim.schedules import cosine as cosine
from compiler.optim.schedules import exponential as exponential
from compiler.optim.schedules import one_cycle as one_cycle
from compiler.optim.schedules import steps as steps
from compiler.optim.schedules import warmup as warmup

__getattr__, __dir__ = roots.names(__name__, {}, [name for name in globals() if name[0] != "_"])
