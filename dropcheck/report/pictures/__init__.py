"""Pictures and what they share."""
