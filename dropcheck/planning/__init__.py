"""Planning: how many draws a run would take, and how small an error it would see."""
