"""The language of claims: text in, typed expressions out; lowering needs numpy."""
