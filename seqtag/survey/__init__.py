"""What a data set holds, measured in one pass, and what in it is likely not meant."""
