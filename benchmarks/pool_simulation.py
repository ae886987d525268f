"""Past this machine: a run on many workers, by a discrete-event simulation with measured constants.

Chains ask for points as they do: in the tuning for those of all levels in each iteration, in the draws for
that of a walk, or, ahead of time, for those of jumps and of hot levels that rest. The parent hands out and
takes back one question at a time, which is what ends the gain in the end. Prints the table of
docs/parallel/simulation.md.
"""

import argparse
import functools
import heapq
import itertools
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CONSTANTS = Path(__file__).parents[1] / "docs" / "parallel" / "constants.json"  # as measured
DEEP = 2  # as in targets/pooled.py
EARLY = 0.5  # share of the iterations of a tuning that knows its modes in which the base level jumps
WALKS = 0.05  # share of the draws in which the base level walks
REST_EVERY = 63  # iterations between two moves of the hot levels: eight of them, whose jumps are good
LENGTH = 400  # of a simulation, in evaluations
FILLS = 6  # likewise, in times that it takes to evaluate ahead what a run begins with
SPREAD = 0.1  # of the time that a density takes, relative


@dataclass(frozen=True)
class Machine:
    """Workers, and what a question costs beside the density: in the parent, and on the way."""

    workers: int
    density: float
    parent: float
    latency: float

    @property
    def depth(self) -> int:
        """Points that are evaluated ahead of time for a chain."""
        return DEEP * self.workers


@dataclass
class Simulation:
    """A queue of questions, workers that take them, and a parent that can do one thing at a time."""

    machine: Machine
    random: random.Random
    now: float = 0.0
    parent_free: float = 0.0
    idle: int = 0
    used: int = 0  # evaluations whose answer a chain has taken
    queue: list[Any] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    count: Any = field(default_factory=itertools.count)

    def ask(self, then: Any, later: bool = False) -> None:
        """A question, and what to do when it is answered."""
        heapq.heappush(self.queue, (later, next(self.count), then))
        self.hand_out()

    def hand_out(self) -> None:
        """Give questions to workers that are idle."""
        while self.queue and self.idle:
            *_, then = heapq.heappop(self.queue)
            self.idle -= 1
            seconds = self.machine.density * max(0.1, self.random.gauss(1.0, SPREAD))
            begins = self.at_parent(self.machine.parent / 2)
            heapq.heappush(self.events, (begins + self.machine.latency + seconds, next(self.count), then))

    def at_parent(self, seconds: float) -> float:
        """The parent's next free moment, after so many seconds of work for it."""
        self.parent_free = max(self.parent_free, self.now) + seconds
        return self.parent_free

    def run(self, until: float) -> float:
        """Evaluations a second that were of use, up to a time, since it was last run."""
        began, before = self.now, self.used
        while self.events and self.now < until:
            ended, _, then = heapq.heappop(self.events)
            self.now = max(self.now, ended)
            self.idle += 1
            self.now = max(self.now, self.at_parent(self.machine.parent / 2) - self.machine.parent / 2)
            then()
            self.hand_out()
        return (self.used - before) / (self.now - began)


class TuningChain:
    """All levels in every iteration."""

    def __init__(self, simulation: Simulation, levels: int) -> None:
        self.simulation, self.levels = simulation, levels
        self.next()

    def next(self) -> None:
        """The next iteration."""
        self.waits = self.levels
        self.simulation.used += self.levels
        for _ in range(self.levels):
            self.simulation.ask(self.answered)

    def answered(self) -> None:
        """One point is there."""
        self.waits -= 1
        if self.waits == 0:
            self.next()


class LearnedChain(TuningChain):
    """The same when modes are known: jumps are evaluated ahead, where workers would have to wait."""

    def __init__(self, simulation: Simulation, levels: int) -> None:
        self.depth = simulation.machine.depth
        self.asked = self.taken = 0
        self.ready: set[int] = set()
        super().__init__(simulation, levels)

    def next(self) -> None:
        """The next iteration."""
        jumps = self.simulation.random.random() < EARLY
        self.waits = self.levels
        self.simulation.used += self.levels
        for _ in range(self.levels - jumps):
            self.simulation.ask(self.answered)
        self.taken += jumps
        if jumps and self.taken - 1 in self.ready:
            self.ready.remove(self.taken - 1)
            self.waits -= 1
        while self.asked < self.taken + self.depth:
            self.simulation.ask(functools.partial(self.jump_answered, self.asked), later=True)
            self.asked += 1
        if self.waits == 0:
            self.next()

    def jump_answered(self, jump: int) -> None:
        """A jump is known; perhaps it is what the chain waits for."""
        if jump == self.taken - 1:
            self.answered()
        else:
            self.ready.add(jump)


class DrawingChain:
    """Mostly jumps, which are known ahead, as hot levels' moves are after a swap; walks are waited for."""

    def __init__(self, simulation: Simulation, levels: int) -> None:
        self.simulation, self.levels = simulation, levels
        self.depth = simulation.machine.depth
        self.ahead = self.ready = self.waits = self.iteration = self.hot_left = 0
        self.swapped, self.waits_for_hot = True, False
        self.go_on()

    def go_on(self) -> None:
        """Iterations until one has to wait."""
        while self.waits == 0:
            self.look_ahead()
            walks = self.simulation.random.random() < WALKS
            if not walks and self.ready == 0:
                return
            self.swapped = self.iteration % REST_EVERY == 0
            self.simulation.used += self.levels if self.swapped else 1
            self.waits_for_hot = self.swapped and self.hot_left > 0
            self.ready -= not walks
            self.iteration += 1
            self.waits = walks + self.waits_for_hot
            if walks:
                self.simulation.ask(self.answered)

    def look_ahead(self) -> None:
        """Ask for points of hot levels after a swap, and for jumps, as many as are evaluated ahead."""
        if self.swapped:
            self.swapped, self.hot_left = False, self.levels - 1
            for _ in range(self.levels - 1):
                self.simulation.ask(self.hot_answered, later=True)
        while self.ahead + self.ready < self.depth:
            self.ahead += 1
            self.simulation.ask(self.jump_answered, later=True)

    def jump_answered(self) -> None:
        """A jump is known."""
        self.ahead -= 1
        self.ready += 1
        if self.waits == 0:
            self.go_on()

    def hot_answered(self) -> None:
        """A point of a hot level is there."""
        self.hot_left -= 1
        if self.hot_left == 0 and self.waits_for_hot:
            self.waits_for_hot = False
            self.answered()

    def answered(self) -> None:
        """What was waited for is there."""
        self.waits -= 1
        if self.waits == 0:
            self.go_on()


def rate(machine: Machine, kind: Any, chains: int, levels: int) -> float:
    """Share of the workers' time that is used for the density."""
    simulation = Simulation(machine, random.Random(1), idle=machine.workers)
    for _ in range(chains):
        kind(simulation, levels)
    fill = chains * machine.depth * max(machine.parent, machine.density / machine.workers)
    until = max(LENGTH * machine.density, FILLS * fill)
    simulation.run(until / 2)  # what is evaluated ahead once is no gain
    return simulation.run(max(until, 2.0 * simulation.now)) * machine.density / machine.workers


KINDS = (TuningChain, LearnedChain, DrawingChain)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = json.loads(CONSTANTS.read_text())
    parser.add_argument(
        "--parent", type=float, default=known["parent"], help="seconds of the parent for a question"
    )
    parser.add_argument("--latency", type=float, default=known["latency"], help="seconds on the way")
    given = parser.parse_args()
    print(
        "# Past this machine, simulated\n\n"
        "Made by `python benchmarks/pool_simulation.py` (random seed 1): the share of the workers' time that "
        f"goes into the density. A question costs the parent {1e6 * given.parent:.0f} µs, and "
        f"{1e6 * given.latency:.0f} µs on the way, as measured (`make bench-pools`); 8 levels; in a tuning "
        f"that knows modes the base level jumps in {EARLY:.0%} of the iterations, in the draws "
        f"it walks in {WALKS:.0%} of the iterations, and hot levels move in one of {REST_EVERY}. "
        "Jumps, and hot levels from their last swap on, are evaluated ahead of time. A share above one is of "
        "points that were evaluated before it was looked at.\n"
    )
    print("| workers | a density takes | chains | tuning | tuning with jumps | draws |")
    print("|---|---|---|---|---|---|")
    for workers, density, chains in itertools.product((10, 100, 1000), (0.01, 1.0), (1, 4, 32, 128)):
        machine = Machine(workers, density, given.parent, given.latency)
        shares = [rate(machine, kind, chains, 8) for kind in KINDS]
        cells = " | ".join(f"{share:.0%}" for share in shares)
        print(f"| {workers} | {density:g} s | {chains} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
