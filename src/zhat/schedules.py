"""Schedules: the inverse temperatures between prior and posterior.

    zhat.SMC(schedule=zhat.schedules.AdaptiveESS(0.5))
    zhat.PowerPosterior(schedule=zhat.schedules.PowerLadder(40, 5.0))

What belongs here: every class that a setting `schedule=` takes, and `Schedule`, their protocol.
"""

from zhat.sampling.tempering.schedules import AdaptiveESS, FixedLadder, PowerLadder, Schedule

__all__ = ["AdaptiveESS", "FixedLadder", "PowerLadder", "Schedule"]
