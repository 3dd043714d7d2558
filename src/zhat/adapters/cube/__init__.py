"""Models whose prior is a transform of the unit cube: dynesty, UltraNest, nautilus, bilby, and a log prior by a reference distribution."""
