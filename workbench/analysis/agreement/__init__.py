"""How far people agree: one family of statistics a module. Arrays in, figures out; undefined is NaN here."""
