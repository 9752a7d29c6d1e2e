"""Neural-network layers: thin modules of a few tensors and a function of tensors.

    from compiler import nn

    model = nn.Sequential(nn.Linear(784, 512), nn.relu, nn.Linear(512, 10))
    loss = nn.cross_entropy(model(x), labels)

Layouts, parameter names and initial values are PyTorch's, so its weights can be loaded.

In order: each imports only what stands before it.

    running.py         the module that is running, by its name in the model
    module.py          modules, their named tensors, saving and loading
    initial.py         initial values of parameters
    linear.py          linear layers, embeddings, dropout
    convolutions.py    convolutions and transposed convolutions over 1, 2 or 3 axes
    normalizations.py  layer, group and batch normalisation
    attention.py       multi-head attention
    recurrent.py       long short-term memory, gated recurrent units
    sequential.py      chains, lists and dicts of modules
    methods.py         tensor methods as functions and as modules: activations, pooling, losses
"""

from compiler import roots
from compiler.nn.attention import MultiheadAttention as MultiheadAttention
from compiler.nn.convolutions import Conv1d as Conv1d
from compiler.nn.convolutions import Conv2d as Conv2d
from compiler.nn.convolutions import Conv3d as Conv3d
from compiler.nn.convolutions import ConvTranspose1d as ConvTranspose1d
from compiler.nn.convolutions import ConvTranspose2d as ConvTranspose2d
from compiler.nn.convolutions import ConvTranspose3d as ConvTranspose3d
from compiler.nn.initial import Parameter as Parameter
from compiler.nn.linear import Dropout as Dropout
from compiler.nn.linear import Embedding as Embedding
from compiler.nn.linear import Linear as Linear
from compiler.nn.methods import ELU as ELU
from compiler.nn.methods import GELU as GELU
from compiler.nn.methods import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from compiler.nn.methods import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from compiler.nn.methods import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from compiler.nn.methods import AvgPool1d as AvgPool1d
from compiler.nn.methods import AvgPool2d as AvgPool2d
from compiler.nn.methods import AvgPool3d as AvgPool3d
from compiler.nn.methods import BCELoss as BCELoss
from compiler.nn.methods import BCEWithLogitsLoss as BCEWithLogitsLoss
from compiler.nn.methods import CrossEntropyLoss as CrossEntropyLoss
from compiler.nn.methods import Flatten as Flatten
from compiler.nn.methods import Hardtanh as Hardtanh
from compiler.nn.methods import HuberLoss as HuberLoss
from compiler.nn.methods import Identity as Identity
from compiler.nn.methods import KLDivLoss as KLDivLoss
from compiler.nn.methods import L1Loss as L1Loss
from compiler.nn.methods import LeakyReLU as LeakyReLU
from compiler.nn.methods import LogSoftmax as LogSoftmax
from compiler.nn.methods import MaxPool1d as MaxPool1d
from compiler.nn.methods import MaxPool2d as MaxPool2d
from compiler.nn.methods import MaxPool3d as MaxPool3d
from compiler.nn.methods import Mish as Mish
from compiler.nn.methods import MSELoss as MSELoss
from compiler.nn.methods import NLLLoss as NLLLoss
from compiler.nn.methods import ReLU as ReLU
from compiler.nn.methods import ReLU6 as ReLU6
from compiler.nn.methods import Sigmoid as Sigmoid
from compiler.nn.methods import SiLU as SiLU
from compiler.nn.methods import SmoothL1Loss as SmoothL1Loss
from compiler.nn.methods import Softmax as Softmax
from compiler.nn.methods import Softplus as Softplus
from compiler.nn.methods import Softsign as Softsign
from compiler.nn.methods import Tanh as Tanh
from compiler.nn.methods import Unflatten as Unflatten
from compiler.nn.methods import binary_cross_entropy as binary_cross_entropy
from compiler.nn.methods import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from compiler.nn.methods import cross_entropy as cross_entropy
from compiler.nn.methods import gelu as gelu
from compiler.nn.methods import huber_loss as huber_loss
from compiler.nn.methods import l1_loss as l1_loss
from compiler.nn.methods import mse_loss as mse_loss
from compiler.nn.methods import nll_loss as nll_loss
from compiler.nn.methods import relu as relu
from compiler.nn.methods import sigmoid as sigmoid
from compiler.nn.methods import silu as silu
from compiler.nn.methods import smooth_l1_loss as smooth_l1_loss
from compiler.nn.methods import softmax as softmax
from compiler.nn.methods import tanh as tanh
from compiler.nn.module import Module as Module
from compiler.nn.module import load_state as load_state
from compiler.nn.normalizations import BatchNorm1d as BatchNorm1d
from compiler.nn.normalizations import BatchNorm2d as BatchNorm2d
from compiler.nn.normalizations import BatchNorm3d as BatchNorm3d
from compiler.nn.normalizations import GroupNorm as GroupNorm
from compiler.nn.normalizations import LayerNorm as LayerNorm
from compiler.nn.normalizations import RMSNorm as RMSNorm
from compiler.nn.recurrent import GRU as GRU
from compiler.nn.recurrent import LSTM as LSTM
from compiler.nn.sequential import ModuleDict as ModuleDict
from compiler.nn.sequential import ModuleList as ModuleList
from compiler.nn.sequential import Sequential as Sequential

__getattr__, __dir__ = roots.names(__name__, {}, [name for name in globals() if name[0] != "_"])
