"""The vocabulary: every word of the language, one entry a word."""
