"""Adapters: models and draws of other libraries. This is the only room that names a foreign modelling library.

How to add one (docs/add_an_adapter.md has an example, which a test follows)
------------------------------------------------------------------------------
One file, named after the library or the form that it reads (`numpyro.py`, `arviz.py`). Its door is a function `model(...)`,
called as ``zhat.adapters.NAME.model(...)``; a class method of `Model` is not needed. (`Model.from_numpyro` is one because
NumPyro is the library that priors are written in.) An adapter that takes or gives draws instead names its function after what
it returns, as `arviz.to_arviz` does.

What it gives
    A `Model` and nothing else: a log likelihood and a *normalised* prior as two functions. Arrays become `data`, so that
    `with_data` reuses what is compiled; everything that is fixed goes into ``Core(made_from=...)``, so that two models which
    differ in it are told apart (`zhat.model.identity`). It takes ``name=`` and ``data_id=`` like `Model` does.

What it refuses
    Whatever cannot be split into likelihood and normalised prior, each case with a sentence that names the site and says what
    to write instead: improper priors, discrete parameters that are not summed out, likelihood terms without a distribution,
    missing values that the library would impute, subsampled data. The foreign library is imported inside the function; where
    it is missing, the message names the extra: ``pip install 'zhat[NAME]'``.

What its tests show (tests/adapters/test_NAME.py)
    The log prior and the log likelihood of one model, at several points, against densities that were written down
    independently; an evidence that is known; every refusal with its sentence; that `with_data` traces nothing anew.
"""
