"""How strong an agent is: benchmark cards by a frozen protocol, best responses, exact results."""

__all__ = [
    "best_response",
    "card",
    "card_table",
    "exact",
    "exact_figure",
    "figures",
    "protocol",
    "response_table",
]
