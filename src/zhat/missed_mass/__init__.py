"""One question: did the answer miss part of the posterior?"""
