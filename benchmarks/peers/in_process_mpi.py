"""A communicator for ranks that take turns in one thread, in place of MPI.

Only what PTMCMCSampler asks for. Ranks are greenlets: one that must wait lets the next one go on.
"""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any


class World:
    """The mailboxes that the ranks share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.posts: dict[tuple[str, int], dict[int, Any]] = defaultdict(dict)
        self.mail: dict[tuple[int, int, int], deque[Any]] = defaultdict(deque)

    def run(self, rank_program: Callable[["Communicator"], None]) -> None:
        """Run the program as every rank until all are through; an exception of one ends all."""
        from greenlet import getcurrent, greenlet

        hub = getcurrent()
        ranks = [greenlet(rank_program, hub) for _ in range(self.size)]
        waiting = [(rank, (Communicator(self, number, hub.switch),)) for number, rank in enumerate(ranks)]
        while waiting:
            for rank, first_arguments in waiting:
                rank.switch(*first_arguments)
            waiting = [(rank, ()) for rank, _ in waiting if not rank.dead]


class Communicator:
    """One rank's view of the world, with the names of mpi4py."""

    def __init__(self, world: World, rank: int, pause: Callable[[], Any]) -> None:
        self.world, self.rank, self.pause = world, rank, pause
        self.barriers = 0
        self._turn: dict[str, int] = defaultdict(int)

    def Get_rank(self) -> int:  # noqa: N802 - mpi4py's name
        """Which rank this is."""
        return self.rank

    def Get_size(self) -> int:  # noqa: N802 - mpi4py's name
        """How many ranks there are."""
        return self.world.size

    def barrier(self) -> None:
        """Wait for all."""
        self.barriers += 1
        self._meet("barrier", None, lambda posts: len(posts) == self.world.size)

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        """All values at the root."""
        here = self.rank == root
        posts = self._meet("gather", value, lambda posts: not here or len(posts) == self.world.size)
        return [posts[rank] for rank in range(self.world.size)] if here else None

    def bcast(self, value: Any, root: int = 0) -> Any:
        """The root's value, everywhere."""
        return self._meet("bcast", value, lambda posts: root in posts)[root]

    def scatter(self, values: Any, root: int = 0) -> Any:
        """One value of the root's for each rank."""
        return self._meet("scatter", values, lambda posts: root in posts)[root][self.rank]

    def send(self, value: Any, dest: int, tag: int = 0) -> None:
        """Post a value to one rank."""
        self.world.mail[self.rank, dest, tag].append(value)

    def recv(self, source: int, tag: int = 0) -> Any:
        """Wait for a value from one rank."""
        box = self.world.mail[source, self.rank, tag]
        while not box:
            self.pause()
        return box.popleft()

    def _meet(self, kind: str, value: Any, ready: Callable[[dict[int, Any]], bool]) -> dict[int, Any]:
        """Add a value to this turn's posts and wait until they suffice; old turns are forgotten."""
        turn = self._turn[kind]
        self._turn[kind] += 1
        self.world.posts.pop((kind, turn - 2), None)  # nobody is two turns behind a barrier
        posts = self.world.posts[kind, turn]
        posts[self.rank] = value
        while not ready(posts):
            self.pause()
        return posts
