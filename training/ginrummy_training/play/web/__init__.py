"""A game in the browser: `game` keeps it, `server` speaks to the browser, `static` is the page."""

__all__ = ["server"]
