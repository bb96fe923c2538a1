"""The rules of gin rummy, for N games at once. Imports NumPy and the standard library only."""
