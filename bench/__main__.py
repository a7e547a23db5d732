"""All benchmarks in order: ``python -m bench`` prints one JSON line per metric."""

from __future__ import annotations

from bench import (
    agreement,
    analysis,
    browse,
    building,
    calling,
    claiming,
    cluster,
    completing,
    coverage,
    disagreements,
    execution,
    first_paint,
    import_speed,
    installing,
    next_item,
    null_projects,
    prediction_powered,
    rewarding,
    searching,
    serve,
    serving,
    start,
    subtypes,
    suspects,
    throughput,
    triage,
    verifying,
)


def main() -> None:
    """Run them all."""
    for module in (
        start,
        first_paint,
        browse,
        searching,
        triage,
        next_item,
        import_speed,
        installing,
        verifying,
        calling,
        serving,
        completing,
        rewarding,
        throughput,
        serve,
        agreement,
        claiming,
        analysis,
        coverage,
        null_projects,
        subtypes,
        prediction_powered,
        disagreements,
        building,
        suspects,
        execution,
        cluster,
    ):
        module.main()


if __name__ == "__main__":
    main()
