"""The rule agents: they play by rules of thumb, random play included."""
