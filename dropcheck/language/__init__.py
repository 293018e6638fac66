"""The language of claims: text in, typed expressions out. Imports no numpy."""
