"""How strong an agent is: benchmark cards by a frozen protocol, and best responses to it."""

__all__ = ["best_response", "card", "card_figure", "card_table", "protocol", "response_table"]
