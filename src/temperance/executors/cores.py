"""How many cores there are for us."""

import os

# What batch systems tell a job: SLURM, PBS, Grid Engine, LSF.
GIVEN = ("SLURM_CPUS_PER_TASK", "NCPUS", "NSLOTS", "LSB_DJOB_NUMPROC")


def cores_here() -> int:
    """Cores that this process may use: those that the machine lets it, and no more than a job was given."""
    told = [os.environ[name] for name in GIVEN if name in os.environ]
    given = [int(text) for text in told if text.isdigit() and int(text) > 0]
    return min([_usable(), *given])


def _usable() -> int:
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on; PYTHON_CPU_COUNT may have said fewer
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
