"""Judging: one case from its graph to a finding, until it is decided."""
