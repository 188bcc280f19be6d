"""`python -m candide`: the command line."""

from candide.cli import main

main()
