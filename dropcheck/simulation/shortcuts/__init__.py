"""Shortcuts: what is averaged without computing it draw by draw."""
