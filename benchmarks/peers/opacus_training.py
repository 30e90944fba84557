"""Times DP-SGD of Opacus, and the plain PyTorch loop, on the ConvNet of "private_training_benchmark"; JSON lines.

The model is the zoo's ConvNet: three blocks of a 3x3 convolution, instance normalisation (a GroupNorm of one channel a
group), ReLU and an average pool of 2, then an affine map; 320,010 parameters on 3x32x32. One batch of 256 random
examples is stepped on again and again: gradients, clipping to norm 1, noise of multiplier 1, the SGD update.
"""

import argparse
import json
import os
import resource
import statistics
import time
import warnings

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH, CHANNELS, CLASSES = 256, 128, 10
WARM_UP = {"cpu": 1, "cuda": 5}  # steps
MODES = ["plain", "hooks", "functorch", "ew", "ghost"]


def convnet():
    layers = []
    for incoming in (3, CHANNELS, CHANNELS):
        layers += [nn.Conv2d(incoming, CHANNELS, 3, padding=1), nn.GroupNorm(CHANNELS, CHANNELS)]
        layers += [nn.ReLU(), nn.AvgPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(4 * 4 * CHANNELS, CLASSES))


def make_step(mode, device):
    """One optimiser step, as Opacus' documentation writes it."""
    torch.manual_seed(1)
    inputs, targets = torch.randn(BATCH, 3, 32, 32).to(device), torch.randint(CLASSES, (BATCH,)).to(device)
    model, criterion = convnet().to(device), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if mode != "plain":
        made = PrivacyEngine().make_private(
            module=model,
            optimizer=optimizer,
            criterion=criterion,
            data_loader=DataLoader(TensorDataset(inputs, targets), batch_size=BATCH),
            noise_multiplier=1.0,
            max_grad_norm=1.0,
            poisson_sampling=False,
            grad_sample_mode=mode,
        )
        model, optimizer = made[:2]
        if mode == "ghost":  # the only mode with a criterion of its own
            criterion = made[2]

    def step():
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()

    if torch.device(device).type == "cpu":
        return step

    def finished_step():
        step()
        torch.cuda.synchronize()

    return finished_step


def measure(mode, device, repetitions):
    step = make_step(mode, device)
    for _ in range(WARM_UP[torch.device(device).type]):
        step()  # does not count: kernels are chosen, memory is taken
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return {"samples_s": BATCH / statistics.median(seconds), "samples_s_best": BATCH / min(seconds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", action="append", choices=MODES, help="one mode or several; all without it")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--device", default="cpu", help="cpu without it; cuda:0 for a GPU")
    parser.add_argument("--tf32", action="store_true", help="lets a GPU round factors of products to ten bits, as the harness never does")
    # PyTorch's own default may be fewer.
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="all cores without it")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.tf32
    warnings.simplefilter("ignore")  # Opacus' about insecure noise, PyTorch's about hooks
    for mode in options.mode or MODES:
        result = {"peer": mode, "device": options.device, "threads": options.threads}
        try:
            result.update(measure(mode, options.device, options.repetitions))
        except Exception as error:  # a mode that does not run is a result too
            result["error"] = f"{type(error).__name__}: {error}"
        # Of the process so far: meaningful when it runs one mode only.
        result["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
