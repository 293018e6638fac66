"""One case judged: the means that its statement allows, from sums of blocks to a finding."""
