"""Playing against an agent: in the terminal and in the browser."""
