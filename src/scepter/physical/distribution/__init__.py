"""How a plan is divided over workers: where it is cut, by which key, in how many stages."""
