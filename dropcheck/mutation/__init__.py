"""Errors are planted in claims, to see that each is refuted: a claim that cannot fail is empty."""
