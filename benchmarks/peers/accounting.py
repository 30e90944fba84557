"""Times the accountants of other projects on Poisson-sampled Gaussian steps, one JSON line each.

Every repetition makes a new accountant, adds all steps as one event and reads epsilon, as accounting_benchmark does. The
best repetition counts.
"""

import argparse
import json
import time
import warnings

RATE, NOISE_MULTIPLIER, STEPS, DELTA = 0.0256, 1.0, 3000, 1e-5
ORDERS = [1 + tenths / 10 for tenths in range(1, 100)] + list(range(12, 64))  # Opacus' own


def dp_accounting_event():
    import dp_accounting

    return dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(NOISE_MULTIPLIER))


def dp_accounting_rdp():
    from dp_accounting import rdp

    return rdp.RdpAccountant(ORDERS).compose(dp_accounting_event(), STEPS).get_epsilon(DELTA)


def dp_accounting_pld():
    from dp_accounting import pld

    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    return accountant.compose(dp_accounting_event(), STEPS).get_epsilon(DELTA)


def opacus_rdp():
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    accountant.history = [(NOISE_MULTIPLIER, RATE, STEPS)]
    return accountant.get_epsilon(DELTA, alphas=ORDERS)


def opacus_prv():
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.history = [(NOISE_MULTIPLIER, RATE, STEPS)]
    return accountant.get_epsilon(DELTA)  # its default error of epsilon: 0.01


def prv_accountant():
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    mechanism = PoissonSubsampledGaussianMechanism(RATE, NOISE_MULTIPLIER)
    accountant = PRVAccountant(mechanism, max_self_compositions=STEPS, eps_error=0.01, delta_error=DELTA / 1000)
    return accountant.compute_epsilon(DELTA, STEPS)[2]  # the upper bound


PEERS = [dp_accounting_rdp, opacus_rdp, dp_accounting_pld, prv_accountant, opacus_prv]


def measure(peer, repetitions):
    peer()  # does not count: imports, tables that are made once
    wall, cpu = [], []
    for _ in range(repetitions):
        start = time.perf_counter(), time.process_time()
        epsilon = peer()
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    return {"peer": peer.__name__, "ms": 1000 * min(wall), "cpu_ms": 1000 * min(cpu), "epsilon": float(epsilon)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    warnings.simplefilter("ignore")  # Opacus' about the best order, each time
    for peer in PEERS:
        try:
            result = measure(peer, repetitions)
        except Exception as error:  # a peer that does not run is a result too
            result = {"peer": peer.__name__, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
