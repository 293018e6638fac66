"""Analysis: what is known of a case before any draw."""
