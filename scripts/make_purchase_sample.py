"""Write the purchase sample: sessions of clicks, each with the chance that the shopper buys.

    python scripts/make_purchase_sample.py [--output data/purchase] [--check]

The chance at an event follows from everything the shopper did up to it, by the formula in
`chances`; what the files hold is that chance plus Gaussian noise of a known deviation. So the best
root mean square error that any model can reach is that deviation.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import defaultdict
from pathlib import Path
from statistics import NormalDist, fmean

DATA = Path(__file__).resolve().parent.parent / "data" / "purchase"
SEED = 22
SIZES = {"train": 1000, "dev": 150, "test": 150}
LARGE_SAMPLE = 30_000  # sessions behind the score of the best function of the event alone
NOISE = 0.05
SHORTEST, LONGEST = 6, 24  # events in a session

Session = list[tuple[str, float]]  # event, measured chance

ARRIVALS = {"from_ad": -1.2, "from_search": -0.4, "from_mail": 0.6, "from_friend": 1.4}
PRODUCTS = ("lamp", "chair", "desk", "vase", "rug", "clock", "shelf", "mirror")
VIEWS = tuple(f"view_{product}" for product in PRODUCTS)
# What else a shopper does, and how often, in parts of a hundred; the rest are views.
OTHERS = {"search": 12, "reviews": 8, "help": 5, "coupon": 7, "shipping": 7, "pay_page": 6}
ADD_AFTER_VIEW = 0.25  # until something is in the cart


def chances(events: list[str]) -> list[float]:
    """The true chance of a purchase at each event, from that event and those before it."""
    seen: set[str] = set()
    found = []
    for event in events:
        seen.add(event)
        score = -0.9 + ARRIVALS[events[0]]
        if "add_to_cart" in seen:
            score += 1.2
        if "coupon" in seen:
            score += 1.2
        elif "shipping" in seen:
            score -= 1.2  # the cost of shipping, which a coupon would have paid
        score += {"pay_page": 0.8, "help": -0.5}.get(event, 0.0)
        # Between 0.1 and 0.9, so that the noise seldom leads out of 0 to 1 and is never cut off.
        found.append(0.1 + 0.8 / (1 + math.exp(-score)))
    return found


class Shop:
    """Draws sessions. Only `random()` is called: its stream is the same on every Python."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def next_event(self, events: list[str]) -> str:
        """What the shopper does after these events."""
        may_add = events[-1] in VIEWS and "add_to_cart" not in events
        if may_add and self.random() < ADD_AFTER_VIEW:
            return "add_to_cart"
        draw = self.random() * 100
        for event, share in OTHERS.items():
            draw -= share
            if draw < 0:
                return event
        return VIEWS[int(self.random() * len(VIEWS))]

    def session(self) -> Session:
        """The next session."""
        length = SHORTEST + int(self.random() * (LONGEST - SHORTEST + 1))
        events = [list(ARRIVALS)[int(self.random() * len(ARRIVALS))]]
        while len(events) < length:
            events.append(self.next_event(events))
        noise = NormalDist(0, NOISE)
        return [
            (event, round(chance + noise.inv_cdf(self.random()), 4))
            for event, chance in zip(events, chances(events), strict=True)
        ]


def events_of(session: Session) -> list[str]:
    return [event for event, _ in session]


def draw_splits() -> dict[str, list[Session]]:
    """The three parts, no sequence of events twice."""
    shop, seen = Shop(SEED), set[tuple[str, ...]]()
    splits: dict[str, list[Session]] = {name: [] for name in SIZES}
    for name, size in SIZES.items():
        while len(splits[name]) < size:
            session = shop.session()
            if (events := tuple(events_of(session))) not in seen:
                seen.add(events)
                splits[name].append(session)
    return splits


def as_columns(sessions: list[Session]) -> str:
    return "".join(
        "".join(f"{event}\t{target:.4f}\n" for event, target in session) + "\n"
        for session in sessions
    )


def root_mean_square(errors: list[float]) -> float:
    return math.sqrt(fmean(error**2 for error in errors))


def measure(splits: dict[str, list[Session]], large_sample: int = LARGE_SAMPLE) -> dict[str, float]:
    """What the README states: the sizes, and the errors of the best and the simplest guesses."""
    measures: dict[str, float] = {}
    for name, sessions in splits.items():
        measures[f"{name}_sessions"] = len(sessions)
        measures[f"{name}_events"] = sum(map(len, sessions))
    train = [target for session in splits["train"] for _, target in session]
    test = [pair for session in splits["test"] for pair in session]
    everything = [pair for sessions in splits.values() for session in sessions for pair in session]
    targets = [target for _, target in everything]
    truth = [chance for session in splits["test"] for chance in chances(events_of(session))]
    shop = Shop(SEED + 1)
    by_event: dict[str, list[float]] = defaultdict(list)
    for events in (events_of(shop.session()) for _ in range(large_sample)):
        for event, chance in zip(events, chances(events), strict=True):
            by_event[event].append(chance)
    means = {event: fmean(values) for event, values in by_event.items()}
    spread = [value - means[event] for event, values in by_event.items() for value in values]
    mean = fmean(train)
    measures |= {
        "symbols": len({event for event, _ in everything}),
        "lowest_target": min(targets),
        "highest_target": max(targets),
        "outside_0_to_1_share": sum(not 0 <= target <= 1 for target in targets) / len(targets),
        "best_rmse": NOISE,
        "best_rmse_test": root_mean_square(
            [target - chance for (_, target), chance in zip(test, truth, strict=True)]
        ),
        # The noise cannot be guessed, so its variance adds to that of the chance about its mean.
        "event_rmse": math.hypot(root_mean_square(spread), NOISE),
        "event_rmse_test": root_mean_square([target - means[event] for event, target in test]),
        "mean_rmse_test": root_mean_square([target - mean for _, target in test]),
    }
    return {name: round(value, 4) for name, value in measures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the purchase sample.")
    parser.add_argument("--output", type=Path, default=DATA, help="folder of the three files")
    parser.add_argument("--check", action="store_true", help="compare the files, write none")
    options = parser.parse_args()
    splits = draw_splits()
    for name, sessions in splits.items():
        path, text = options.output / f"{name}.conll", as_columns(sessions).encode()
        if not options.check:
            options.output.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        elif not path.is_file() or path.read_bytes() != text:
            sys.exit(f"{path} is not what this script writes; run it without --check.")
    print(json.dumps(measure(splits), indent=2))


if __name__ == "__main__":
    main()
