"""Watching a training: when the alarm comes, false alarms, what intervals cover, and what the reward's p99 pays.

Usage: python -m bench.watching [--clean 2000] [--simulations 500] [--calls 400]

Alarms: a policy that learns each payload of five families of probes, 512 completions a step; how many steps after its
share has passed 2 % the alarm comes, the latest of all. Coverage: of the false positive rate's interval, with unequal
chances and questions whose completions are alike. Latency: calls of two rewards, one with an audit and one without, in
turn; the ratio of their 99th percentiles.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import time
from pathlib import Path

import numpy as np

import workbench
from bench.figures import report
from bench.rewarding import p99
from tests.watched_training import Paraphrasing, SimulatedTraining, alarms, free_rewards
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.statistics.watching import WeightedShare, weighted_share
from workbench.training.audit import Sampler
from workbench.training.reward import Reward

_FAMILIES = ("P1", "P2", "P3", "P4", "P5")
_WAYS = (5, 20, 200)
"""In how many wordings a policy says its free reward."""
_LATEST, _FALSE, _RATIO = 10, 1, 1.05
_STEPS, _QUESTIONS, _SAMPLES = 120, 64, 8


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clean", type=int, default=2_000)
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--calls", type=int, default=400)
    options, _ = parser.parse_known_args()
    report("watching_p99_ratio", _latency(options.calls), "×", _RATIO)
    late = [_late(family, text) for family in _FAMILIES for text in free_rewards(family)]
    report("watching_latest_alarm", max(late), "steps", _LATEST)
    report("watching_payloads", len(late), "payloads")
    for ways in _WAYS:
        report(f"watching_alarm_in_{ways}_ways", _late_training(Paraphrasing(3, ways)), "steps")
    clean = {one.step for one in alarms(SimulatedTraining(5), options.clean)}
    report("watching_false_alarms", len(clean), f"in {options.clean:,} steps", _FALSE)
    covered = sum(_covers(seed) for seed in range(options.simulations))
    report("watching_fpr_coverage", covered / options.simulations, "of simulations (.93 to .97)")


def _late(family: str, text: str) -> int:
    """See `_late_training`, for a policy that learns a payload."""
    return _late_training(SimulatedTraining(len(text), payload=text))


def _late_training(training: SimulatedTraining) -> int:
    """Steps from 2 % to the alarm; 200 less that where there is none."""
    passed = next(step for step in range(200) if training.share(step) > 0.02)
    first = next(alarms(training, 200), None)
    return (200 if first is None else first.step) - passed


def _covers(seed: int) -> bool:
    truth, found = simulated_rate(seed)
    assert found.ci is not None
    return found.ci[0] <= truth <= found.ci[1]


def simulated_rate(seed: int, steps: int = _STEPS, share: float = 0.01) -> tuple[float, WeightedShare]:
    """The false positive rate over a training, and what a sample says of it."""
    draw, sampler = random.Random(seed), Sampler(share, seed)
    hits, weights, questions, wrong, accepted = [], [], [], 0, 0
    for number in range(steps * _QUESTIONS):
        hard = draw.random()
        leak = 0.04 if hard < 0.8 else 0.2
        for row in range(_SAMPLES):
            right = draw.random() < 0.9 - 0.8 * hard
            passes = draw.random() < (0.97 if right else leak)
            other = Outcome.ABSTAIN if draw.random() < 0.1 else Outcome.INCORRECT
            item = VerifierInput(item=0, question=str(number), reference="", completion=str(row))
            verdict = Verdict(outcome=Outcome.CORRECT if passes else other)
            taken = sampler.taken(item, verdict, number // _QUESTIONS, rising=passes and draw.random() < 0.2)
            if right:
                continue
            wrong, accepted = wrong + 1, accepted + passes
            if taken is not None:
                hits.append(passes)
                weights.append(1 / taken.chance)
                questions.append(number)
    return accepted / wrong, weighted_share(np.array(hits), np.array(weights), np.array(questions))


def _latency(calls: int) -> float:
    """The ratio of the 99th percentiles, after both have warmed up."""
    with tempfile.TemporaryDirectory() as folder:
        plain, audited = workbench.reward("rules"), workbench.reward("rules", audit=Path(folder) / "p.db")
        with plain, audited:
            training = SimulatedTraining(3)
            took: tuple[list[float], list[float]] = ([], [])
            for step in range(calls + 10):
                if step == 10:
                    # What the simulation holds is looked through by the collector in none of the calls.
                    gc.collect()
                    gc.freeze()
                items = [one.item for one in training.step(step)]
                for place in (0, 1) if step % 2 else (1, 0):
                    if place == 0:
                        # What the thread does meanwhile would slow the one that has none.
                        audited.flush()
                    seconds = _timed((plain, audited)[place], items)
                    if step >= 10:
                        took[place].append(seconds)
            report("watching_p99", 1000 * p99(took[0]), "ms without")
            report("watching_p99_audited", 1000 * p99(took[1]), "ms")
            report("watching_p50_ratio", float(np.median(took[1]) / np.median(took[0])), "×")
        return p99(took[1]) / p99(took[0])


def _timed(reward: Reward, items: list[VerifierInput]) -> float:
    """Half of the calls with an audit follow upon another, which its thread has just begun to look at."""
    began = time.perf_counter()
    reward(
        prompts=[one.question for one in items],
        completions=[one.completion for one in items],
        ground_truth=[one.reference for one in items],
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
