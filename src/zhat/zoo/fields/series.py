"""The data of the latent Gaussian models and of the Ising models, small enough to stand here.

Seeds: Crowder (1978), *Applied Statistics* 27. Coal: the dates of Jarrett (1979), *Biometrika* 66, 191 explosions, by calendar
year. Tokyo: Kitagawa (1987), *JASA* 82, days with rain in 1983 and 1984. Pound-dollar: the first fifty returns of the series
of Harvey, Ruiz & Shephard (1994), *Review of Economic Studies* 61, in per cent. Coronary risk factors: Edwards & Havranek (1985),
*Biometrika* 72. The other two series were simulated and rounded.
"""

from __future__ import annotations

import numpy as np

from zhat.numerics._checks import FloatArray


def _digits(text: str) -> FloatArray:
    return np.array([float(c) for c in text if c.isdigit()])


def _numbers(text: str) -> FloatArray:
    return np.array([float(word) for word in text.split()])


SEEDS_GERMINATED = _numbers("10 23 23 26 17 5 53 55 32 46 10 8 10 8 23 0 3 22 15 32 3")
SEEDS_PLANTED = _numbers("39 62 81 51 39 6 74 72 51 79 13 16 30 28 45 4 12 41 30 51 7")
SEEDS_VARIETY = np.repeat([0.0, 0.0, 1.0, 1.0], [5, 6, 5, 5])
SEEDS_EXTRACT = np.repeat([0.0, 1.0, 0.0, 1.0], [5, 6, 5, 5])

COAL_FIRST_YEAR = 1851
COAL = _digits("4541043406334026335453144155342522342132211113001011003103220111010100021000110233112111123300014000100000100101")

TOKYO = _digits(
    "00110110000000100110110000000010100000000011000210000110100001100000020011021011101200111112001101201110012102101000001001"
    "10001100000111220000011100010000010100021121012202211122211000101112101100211112201000011000000000000001111110121000000010"
    "10001011120001220112210111111000001000102110111021111000100000000011011000011001100010000000000000000100001110000100000011"
)
TOKYO_TRIALS = np.where(np.arange(366) == 59, 1.0, 2.0)  # 29 February was in one of the two years

POUND_DOLLAR = _numbers(
    "-.356 1.425 -.444 1.026 1.678 .369 -.941 -1.052 -.296 .108 -1.78 .888 -.817 -.549 -.358 .605 -.909 .442 .33 .794 "
    ".598 1.292 .107 .293 .16 -.213 .796 -.903 .532 .477 1.025 .496 -1.441 .369 .551 -.288 .419 -.105 1.237 .036 .951 .23 "
    "-.691 .154 -.772 .875 -.195 -.887 -.374 -1.456"
)

NOISY_AR = _numbers(
    "1.79 2.1 1.32 1.06 2.32 2.02 1.9 2.63 .89 .31 .12 .75 -1.09 .18 1.72 .29 1.19 .94 .09 .52 .86 .74 .46 .91 1.79 -.78 .76 "
    "-.75 -.42 -1.52"
)

AR_CHANGE = _numbers(
    ".31 .55 .69 1.52 .72 .53 1.48 .99 .41 -.38 -.14 .99 1.04 1.28 .59 .14 -.7 .03 -.46 -.57 -.42 .12 1.66 1.77 3.4 1.45 2.09 "
    "2.29 3.23 .77 2.56 1.9 2.77 2.7 .58 1.91 1.47 3.28 3.07 1.75"
)

ISING_PICTURE = (
    2.0
    * _digits(
        "1110100010 1111110110 0011111110 0110111110 0010111110 0010110010 0000000101 1000000010 1110100000 1100000100"
    ).reshape(10, 10)
    - 1.0
)

RISK_FACTORS = ("smoke", "mental", "phys", "systol", "protein", "family")
# Men by the six factors, the first fastest, "yes" before "no".
RISK_COUNTS = _numbers(
    "44 40 112 67 129 145 12 23 35 12 80 33 109 67 7 9 23 32 70 66 50 80 7 13 24 25 73 57 51 63 7 16 "
    "5 7 21 9 9 17 1 4 4 3 11 8 14 17 5 2 7 3 14 14 9 16 2 3 4 0 13 11 5 14 4 4"
)
