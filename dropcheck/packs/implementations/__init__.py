"""Code for the slots of packs: that of each framework, as its users call it."""
