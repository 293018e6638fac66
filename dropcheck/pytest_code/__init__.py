"""Code of test files under the claims that it is to fulfil."""
