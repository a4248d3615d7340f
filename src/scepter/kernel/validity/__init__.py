"""SPARQL's algebra on validities: what holds at an instant is the operator applied to the rows that are there then."""
