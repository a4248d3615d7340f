"""`python -m scepter`."""

from scepter.cli.main import main

main()
