"""Code for the slots of packs: the functions and layers of each framework, as users call them."""
