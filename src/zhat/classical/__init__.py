"""Classical tests as one-liners, with the default priors of the field and exact Bayes factors: the numbers of BayesFactor and JASP.

zhat.classical.t_test(before, after, paired=True)
zhat.classical.correlation(height, weight)
zhat.classical.contingency([[10, 3], [2, 15]], fixed="rows")
zhat.classical.proportion(15, 25)
zhat.classical.anova("rt ~ group * task", data=df)
"""

from zhat.classical.correlations import correlation
from zhat.classical.result import Test
from zhat.classical.t_tests import t_test, t_test_from_summary
from zhat.classical.tables import contingency, proportion
from zhat.classical.variance import Anova, anova

__all__ = ["Anova", "Test", "anova", "contingency", "correlation", "proportion", "t_test", "t_test_from_summary"]
