"""The audit: how often the procedure is wrong, measured on claims whose truth is known."""
