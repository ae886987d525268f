"""What machine code is made for."""

import llvmlite.binding


def processor_name() -> str:
    """The kind of processor that this machine has, as the compiler calls it."""
    return str(llvmlite.binding.get_host_cpu_name())
