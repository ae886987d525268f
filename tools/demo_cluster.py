"""A run on a small cluster of this machine, a worker of which is killed, beside the same run without it."""

import os
import signal
import sys
import threading
import time
import warnings

import numpy as np

import temperance as tp

WORKERS, SEED = 3, 1
MILLISECONDS = 10.0


def log_density(x):
    """Two modes, and some pretended work."""
    time.sleep(MILLISECONDS / 1000)
    return float(np.logaddexp(-0.5 * np.sum((x - 3.0) ** 2), -0.5 * np.sum((x + 3.0) ** 2)))


def say(line):
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(**options):
    """The run that is made twice."""
    began = time.perf_counter()
    result = tp.sample(
        log_density, initial=np.zeros(2), tune=50, draws=50, chains=4, seed=SEED, progress=False, **options
    )
    return result, time.perf_counter() - began


def main():
    """Print what happens."""
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster:
        say(f"a cluster of {WORKERS} processes at {cluster.scheduler_address}")
        with Client(cluster) as client:
            victim = next(iter(cluster.workers.values())).pid
            killer = threading.Timer(3.0, os.kill, (victim, signal.SIGKILL))
            killer.start()
            with_cluster, seconds = run(pool=client)
            say(f"four chains on the cluster: {seconds:.1f} s; process {victim} was killed after 3 s")
            say(f"its processes now: {[worker.pid for worker in cluster.workers.values()]}")
    alone, seconds = run(cores=1)
    say(f"the same run without it: {seconds:.1f} s")
    same = np.array_equal(with_cluster.draws, alone.draws)
    say(f"the draws are {'the same, bit for bit' if same else 'NOT THE SAME'}")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
