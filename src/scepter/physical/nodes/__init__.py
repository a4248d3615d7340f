"""The operators of a plan as frozen values, and by what each may be divided."""
