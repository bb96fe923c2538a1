"""How strong an agent is: benchmark cards, best responses to it, exact results on small decks."""

__all__ = [
    "best_response",
    "card",
    "card_figure",
    "card_table",
    "exact",
    "exact_figure",
    "protocol",
    "response_table",
]
