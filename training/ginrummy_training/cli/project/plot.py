"""``ginrummy plot``: the pictures of kept results, drawn again."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ginrummy_training.cli.arguments import add_force, add_out

if TYPE_CHECKING:
    from ginrummy_training.plotting import Picture

HELP = """\
Redraws the plots of saved results, without playing anything. The kind of result is recognised by
the content of the file.

examples:
  ginrummy plot results/ladder-eaai --out pictures         # cross table, ratings, ways to end
  ginrummy plot results/training/ablations.csv --out ablations.png
  ginrummy plot results/search/eaai-curve.json --out gain.png
  ginrummy plot results/search/belief.json --out belief.png
  ginrummy plot results/nano/exact.json --out exact.png

Learning curves of several runs in one picture: ginrummy curves.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "results", type=Path, metavar="RESULTS",
        help="folder of a tournament; ablations.csv; JSON of search-gain, exact, fit belief-check",
    )  # fmt: skip
    add_out(parser, "file for the picture (png, svg, pdf); of a tournament a folder", required=True)
    add_force(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw.

    Raises:
        ResultError: results that have no picture.
    """
    from ginrummy_env.files import require_free
    from ginrummy_training.evaluation.result_files import TOURNAMENT, TOURNAMENT_FIGURES

    results, out = options.results, options.out
    tournament = results / TOURNAMENT if results.is_dir() else results
    if tournament.name == TOURNAMENT:
        from ginrummy_training.evaluation.tournament_figures import save_figures
        from ginrummy_training.storage import read_json

        for name in TOURNAMENT_FIGURES:
            require_free(out / name, options.force)
        for path in save_figures(read_json(tournament), out):
            print(f"written: {path}")
        return 0
    require_free(out, options.force)
    picture_of(results).save(out)
    print(f"written: {out}")
    return 0


def picture_of(path: Path) -> "Picture":
    """Return the picture of a file of results.

    Raises:
        ResultError: a file of another kind.
    """
    from ginrummy_training.storage import ResultError, read_json

    if path.suffix == ".csv":
        from ginrummy_training.experiments.ablation_figure import ablation_picture
        from ginrummy_training.experiments.ablations import read_rows

        return ablation_picture(read_rows(path))
    found = read_json(path)
    pictures = {"variants": _gain, "reliability": _belief, "solvers": _exact}
    for key, draw in pictures.items():
        if isinstance(found, dict) and key in found:
            return draw(found)
    raise ResultError(
        f"{path}: neither a tournament, nor ablations, search gains, a check of the belief "
        "or exact results"
    )


def _gain(found: dict[str, Any]) -> "Picture":
    from ginrummy_training.analysis.search_figures import gain_picture

    return gain_picture(found)


def _exact(found: dict[str, Any]) -> "Picture":
    from ginrummy_training.strength.exact_figure import exact_picture

    return exact_picture(found)


def _belief(found: dict[str, Any]) -> "Picture":
    from ginrummy_training.fitting.belief_figure import reliability_picture

    return reliability_picture(found)
