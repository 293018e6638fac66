"""Where functions of one draw lie on small cells of it, and how smooth they are there."""
