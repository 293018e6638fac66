"""What is known of a quantity from its formula alone: enclosures of its values."""
