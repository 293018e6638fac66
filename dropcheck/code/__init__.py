"""Code under test: what is bound to the slots of a claims file, and how it is called."""
