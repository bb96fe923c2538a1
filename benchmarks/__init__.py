"""Speed, measured: the core, what is built on it, and the peers, side by side in one run.

Run from a checkout; nothing here is installed::

    python -m benchmarks --quick            # a look, half a minute
    python -m benchmarks --out bench.json   # the numbers to quote, with the machine they are from
    python -m benchmarks --only core        # without the peers (and without the `bench` extra)
    python -m benchmarks --only 'random/*'  # by name
    python -m benchmarks --list

A number from one machine says little about another, and on a shared machine little about the next
minute. So contenders take turns in short slices on one core, rates are per second of the
processor, and what is compared is the ratio of two slices of the same round.

To add a benchmark: write a module with a list ``BENCHMARKS`` of `registry.Benchmark` (timed) and
`registry.Measurement` (measured once), and name it in `registry.MODULES`.
"""
