"""Reads claims files: YAML in, a registry out, or every error at once."""
