"""The networks that are measured, by name."""

from benchmarks.networks.lstm import lstm
from benchmarks.networks.mobilenet import mobilenet_v2
from benchmarks.networks.network import Network
from benchmarks.networks.numeric import covariance, kmeans, stencil
from benchmarks.networks.resnet import resnet18
from benchmarks.networks.transformers import gpt2, vit_s16
from benchmarks.networks.unet import unet

NETWORKS: dict[str, Network] = {
    network.name: network
    for network in (
        resnet18(), mobilenet_v2(), vit_s16(), unet(), gpt2(), gpt2(tokens=1, past=128), lstm(),
        kmeans(), covariance(), stencil(),
    )
}  # fmt: skip
