"""Claims about one event: that it is certain, or how probable it is, by counting draws."""
