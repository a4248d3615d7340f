"""What the documentation site makes of the source when it is built: grammars, cases, commands, codes."""
