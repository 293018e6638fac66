"""What dropcheck costs, as ratios: to its random numbers alone, to scripts, peers and itself."""
