"""The ranges of functions of one draw on small cells of its values, and their smoothness there."""
