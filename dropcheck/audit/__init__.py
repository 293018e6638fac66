"""The audit: how often verdicts are wrong, measured on claims whose truth is known."""
