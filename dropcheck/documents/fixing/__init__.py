"""New figures in the place of stale ones: how they are printed, and written into the file."""
