"""Try all faults of the list on runs of each kind, and print fault by fault what holds after it, n of n.

`make bench-faults`, or `python -m benchmarks.faults [--write] [FAMILY ...]`: it takes some minutes, most of which are
waits. `--write` writes the tables of docs/reliability.md anew. It ends with 1 where anything does not hold.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from benchmarks.fault_trials import CHECKS, Outcome
from benchmarks.figures import ROOT
from benchmarks.guard import machine
from benchmarks.process_faults import ProcessFault, process_faults
from benchmarks.reply_faults import ReplyFault, reply_faults

PAGE = ROOT / "docs" / "reliability.md"
Fault = ReplyFault | ProcessFault


def all_faults() -> Iterator[Fault]:
    """Yield the published list."""
    yield from chain(reply_faults(), process_faults())


def rows_of(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], list[Outcome]]:
    """Return the outcomes of each fault, over all kinds of runs and moments."""
    rows: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        rows.setdefault((outcome.family, outcome.name), []).append(outcome)
    return rows


def cells(outcomes: Sequence[Outcome]) -> list[str]:
    """Return for each check how many of those that were held to it hold; a dash where none was."""
    found = []
    for check in CHECKS:
        held = [not outcome.wrong[check] for outcome in outcomes if check in outcome.wrong]
        found.append(f"{sum(held)} of {len(held)}" if held else "-")
    return found


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the tables, one a family, the sums first."""
    rows = rows_of(outcomes)
    families = list(dict.fromkeys(family for family, _ in rows))
    head = f"| faults | runs | {' | '.join(CHECKS.values())} |\n|---|--:|{'--:|' * len(CHECKS)}"
    lines = [head]
    for family in [*families, "all"]:
        chosen = [outcome for outcome in outcomes if family in (outcome.family, "all")]
        count = sum(family in (group, "all") for group, _ in rows)
        lines.append(f"| {family}: {count} | {len(chosen)} | {' | '.join(cells(chosen))} |")
    for family in families:
        lines += ["", f"### {family}", "", head.replace("faults", "fault")]
        for (group, name), own in rows.items():
            if group == family:
                lines.append(f"| {name} | {len(own)} | {' | '.join(cells(own))} |")
    return "\n".join(lines)


def with_tables(page: str, tables: str, name: str = "faults") -> str:
    """Return the page with the tables made anew, between `<!-- NAME -->` and `<!-- end -->`."""
    return re.sub(
        rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", lambda _: f"{tables}\n", page, count=1, flags=re.DOTALL
    )


def tried(faults: Iterable[Fault]) -> list[Outcome]:
    """Try faults one by one, and print what came of each kind of run."""
    outcomes = []
    for fault in faults:
        outcome = fault.tried()
        outcomes.append(outcome)
        wrong = "; ".join(f"{CHECKS[check]}: {said}" for check, all_said in outcome.wrong.items() for said in all_said)
        print(f"{fault.family:9} {fault.kind:7} {fault.name}: {wrong or 'holds'}", flush=True)
    return outcomes


def main() -> None:
    """Try, print, write if asked, and end with 1 where something does not hold."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("families", nargs="*", metavar="FAMILY", help="HTTP, messages, roles ...; all unless named")
    options.add_argument("--write", action="store_true", help="write the tables of docs/reliability.md anew")
    chosen = options.parse_args()
    os.environ["VERIFYPLAN_OFFLINE"] = "1"  # nothing but loopback is asked
    where, began = machine(), time.monotonic()
    outcomes = tried(fault for fault in all_faults() if not chosen.families or fault.family in chosen.families)
    held, minutes = sum(outcome.held for outcome in outcomes), (time.monotonic() - began) / 60
    tables = markdown(outcomes)
    print(f"\n{tables}\n\n{held} of {len(outcomes)} runs hold, {len(rows_of(outcomes))} faults, {minutes:.0f} minutes")
    if chosen.write and not chosen.families:
        day = datetime.date.today().isoformat()
        sums = f"{held} of {len(outcomes)} runs held, {len(rows_of(outcomes))} faults, on {day}: {where}."
        PAGE.write_text(with_tables(PAGE.read_text(), f"{sums}\n\n{tables}"))
    if held < len(outcomes):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
