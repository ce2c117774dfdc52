"""Sessions that download in chunks of ever other sizes: what carries the chunks is kept warm by each session, by
size, for as long as it lives.

Cost: an allocation and downloads that are read. Before: 18 to 571 MiB for one session at --memory-limit 64MiB, for
nothing that a limit names.
"""

from attack import Attack, Target, run
from sessions import Session

SIZE = 8 << 20


def download(target: Target) -> None:
    session = Session(target.connect(target.index, window=16 << 20)).begin()
    session.allocate(1, SIZE)
    sizes = [int(1024 * 1.19**i) for i in range(52)]
    for _ in range(100):
        for chunk in reversed(sizes):
            last = session.download(1, min(SIZE, 16 * chunk), chunk=min(chunk, SIZE))
            session.await_answers(last)
            session.drop_answers()


if __name__ == "__main__":
    run(Attack([download, download], {"--memory-limit": "64MiB"}, rss_mib=200))
