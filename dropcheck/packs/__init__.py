"""Packs: claims files that ship, and code of frameworks for their slots."""
