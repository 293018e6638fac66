"""Shortcuts: averages that are not computed draw by draw."""
