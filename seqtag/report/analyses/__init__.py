"""What is said of a model's errors on a split: an analysis for each kind of target."""
