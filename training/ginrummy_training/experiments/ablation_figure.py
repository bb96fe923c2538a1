"""What each part of a training is worth, as a picture."""

from collections.abc import Sequence

from matplotlib.ticker import MaxNLocator

from ginrummy_training.experiments.ablations import RunRow
from ginrummy_training.plotting import LINES, Picture, crowd, intervals, new_figure, styled
from ginrummy_training.statistics import Estimate


@styled
def ablation_picture(rows: Sequence[RunRow]) -> Picture:
    """Return what each variant wins more than the base of its seed, a panel for each rules.

    What loses far more than the others is an arrow at the edge, with its number.
    """
    changed = [row for row in rows if row.to_base is not None]
    names = list(dict.fromkeys(row.variant for row in changed))[::-1]
    all_rules = list(dict.fromkeys(row.rules for row in changed))
    seeds = list(dict.fromkeys(row.seed for row in changed))
    differences = {id(row): _points(row) for row in changed}
    scale = crowd([each.value for each in differences.values()])
    figure, panels = new_figure(
        1.6 + 0.42 * len(names), columns=len(all_rules), squeeze=False, sharey=True, sharex=True
    )
    for axes, rules in zip(panels[0], all_rules, strict=True):
        for number, seed in enumerate(seeds):
            some = [row for row in changed if (row.rules, row.seed) == (rules, seed)]
            shift = 0.24 * (number - (len(seeds) - 1) / 2)
            intervals(
                axes,
                [names.index(row.variant) - shift for row in some],
                [differences[id(row)] for row in some],
                LINES[number % len(LINES)],
                label=f"seed {seed}",
                scale=scale,
                form="{:+.0f}",
            )
        axes.axvline(0, color="#888888", linewidth=0.8)
        axes.set_title(rules.upper())
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.grid(axis="x")
    panels[0, 0].set_yticks(range(len(names)), names)
    panels[0, 0].set_ylim(-0.6, len(names) - 0.4)
    figure.supxlabel("games won, % points more than the base, 95 % intervals", fontsize=11)
    if len(seeds) > 1:
        handles = panels[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=len(seeds))
    return figure


def _points(row: RunRow) -> Estimate:
    """Return the difference to the base in % points."""
    assert row.to_base is not None
    assert row.to_base_low is not None
    assert row.to_base_high is not None
    return Estimate(100 * row.to_base, 100 * row.to_base_low, 100 * row.to_base_high)
