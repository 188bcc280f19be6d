"""The scikit-learn face of Candide: one classifier for any table. It translates, and holds no mathematics."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from candide import engines, evaluation, store
from candide.api.class_names import meant_class
from candide.api.threads import Shared, reads, writes
from candide.api.verbs.fitting import fit_anew
from candide.data.advice import NamedOption, Part, SetOption, message_parts
from candide.data.arrays import AnyArray, BoolArray, FloatArray
from candide.data.batch import FIRST_ROW, Batch, is_numbered, refuse_row_below_one
from candide.data.errors import ColumnWarning, LabelsRefused, Location, MissingColumnWarning, OptionRefused, RowsRefused
from candide.data.progress import unwatched
from candide.data.values import as_array, key_of, shown
from candide.data.visible import visible
from candide.engines.protocol import parts_to_answer
from candide.model.decision import CONFIDENCE, RARITY, answers, decided
from candide.model.missing_columns import absent_columns_notes, lacking, met
from candide.model.options import Options
from candide.model.predictor import Predictor, Priors, log_normalised, log_priors, log_sum, normalised
from candide.model.sampling import drawn_rows
from candide.model.schema import Families, Schema, Smoothing, Text
from candide.model.strangeness import explained
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.show.explanations.readable import ReadableExplanation
from candide.stream.fading import open_stream
from candide.stream.stream import Stream
from candide.training.fit import fit_first_batch, fit_rows
from candide.training.forget import forget_rows, refuse_others
from candide.training.knows import knows_rows
from candide.training.learn import learn_rows, refuse_undeclared
from candide.training.merge import merge_two
from candide.training.refill import refilled
from candide.training.reread import reread
from candide.training.waiting import are_many, learn_waiting, may_wait, with_waiting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = TypeVar("Result")

COLUMNS_WARNED_OF = 10
"""A warning names no more columns than this."""

EMPTY = "Found array with 0 feature(s) (shape={}) while a minimum of 1 is required: there is nothing to learn from."


class NaiveBayes(Shared, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for tables of any mixture of columns, learned exactly.

    Parameters
    ----------
    families : "auto", a family, or {column: family}
        How each column is distributed: the name of a file in `candide.families`, a `Family`, "ignore" to leave the
        column out, "guess" to go by the look of its values, or "auto" to let `fit` choose what predicts best when each
        row is left out. `schema_.explain()` gives the reasons.
    smoothing : "auto", "default", a number, or {column: number}
        One number is added to every count (Laplace: 1, none: 0); families of numbers keep their own. A mapping sets
        the smoothing of any column's family. "auto" lets `fit` choose, "default" is each family's own.
    priors : "empirical", "uniform", or {class: chance}
    class_weight : None, "balanced", or {class: factor}
        Factors on the prior. Weighing every row of a class alike changes nothing else in naive Bayes but the
        smoothing, so the counts are left as they are.
    missing : "ignore" or "value"
        Whether a missing category is no evidence, or a value of its own.
    text : None, TextOptions or {column: TextOptions}
        How texts are read: see `candide.TextOptions`; None lets `fit` choose the recipe. Strings that are many and
        several words long are text, and so is a plain sequence of strings, one a row.
    calibrate : bool
        Whether `fit` makes the probabilities mean what they say: a bias for each class and a weight for each block,
        fitted on rows left out, under choices made without them. Fewer than 50 are too few, unless eight of each class.
    engine : "local", "dask" or "spark"
        What does the work over rows: threads of this process, or a cluster, for frames whose rows lie there. An address
        may follow ("dask:tcp://host:8786", "spark:spark://host:7077"); else the client or session at hand is asked, or
        one started on this machine. All come to the same model, to the bit.
    ledger : bool
        Whether to note a 128-bit hash of every row. Sums alone cannot show of every row that it was never learned; with
        a ledger such a row is refused by `forget` for certain, and `knows` tells whether a row is in the model.
    half_life : None or a number of events
        For streams that drift: with `learn_one`, an event counts half as much after so many more. Such a model keeps
        decimals in place of exact counts, so it refuses to forget, to merge and to be saved.
    dependence : "auto" or "none"
        Whether two or three columns may also speak together, and a linear layer weigh products of all columns, where
        rows that had no part in it gain by it.
    refine : "none", "linear" or "auto"
        Whether `fit` puts a linear layer on what naive Bayes says of texts: a weight for each word and pair of words,
        fitted on rows left out. "auto" does so where rows that had no part in it are judged better.
    unlabelled : "refuse" or "em"
        What becomes of rows whose label is missing (None, NaN) in `fit`: they are refused, or take part by EM as far as
        labelled rows that are left out gain by it. Their expected counts are kept apart from those of labelled rows.

    >>> import numpy as np
    >>> rows = {"weather": ["sun", "rain", "rain", "sun"], "degrees": [30.0, 12.5, 14.0, 24.5]}
    >>> model = NaiveBayes().fit(rows, ["beach", "home", "home", "beach"])
    >>> model.predict({"weather": ["sun", None], "degrees": [28.0, 13.0]}).tolist()
    ['beach', 'home']
    """

    n_features_in_: int
    feature_names_in_: AnyArray
    _trained: TrainedModel
    _stream: Stream | None = None
    _latest: dict[str, Any]
    _waiting: tuple[Batch, ...] = ()
    """Rows that `_trained` has yet to learn."""
    _is_unread = False
    """Whether rows were learned or forgotten since choices were read off."""

    def __init__(
        self,
        families: Families = "auto",
        smoothing: Smoothing = "auto",
        priors: Priors = "empirical",
        class_weight: Priors | None = None,
        missing: str = "ignore",
        text: Text = None,
        calibrate: bool = True,
        engine: str = "local",
        half_life: float | None = None,
        ledger: bool = False,
        dependence: str = "auto",
        refine: str = "none",
        unlabelled: str = "refuse",
    ) -> None:
        self.families = families
        self.smoothing = smoothing
        self.priors = priors
        self.class_weight = class_weight
        self.missing = missing
        self.text = text
        self.calibrate = calibrate
        self.engine = engine
        self.ledger = ledger
        self.half_life = half_life
        self.dependence = dependence
        self.refine = refine
        self.unlabelled = unlabelled

    @writes
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, like: NaiveBayes | None = None) -> Self:
        """Learn from scratch. `y` is one label a row, or the name of the column that holds them.

        `like` takes all choices (families, bins, smoothing, recipes, calibration) from another model. What is no choice
        stays this estimator's own: priors, class weights, ledger and engine are as its parameters say. Parameters that
        ask for other choices than `like` made are refused.
        """
        self._refuse_fading()
        if engines.named(self.engine).is_frame(X):
            refuse_beside_frame(y, sample_weight, like)
            trained = fit_anew(X, y, self._options(), unwatched, {}).trained
            return self._after_fit(trained)
        batch, label = labelled_rows(X, y, sample_weight, all_labelled=like is not None or self.unlabelled != "em")
        if like is None:
            trained = fit_rows(self._options(), batch, label=label)
        else:
            check_is_fitted(like)
            options = self._options()
            refuse_other_choices(options, like.trained_.options)
            trained = refilled(replace(like.trained_, options=options), [batch])
        return self._after_fit(trained, warns=like is None)

    def _after_fit(self, trained: TrainedModel, warns: bool = True) -> Self:
        """Take on what was fitted, and say what is to be known of it."""
        _ = trained.predictor
        self._become(trained, first=True)
        if trained.schema.warnings and warns:
            warnings.warn(looked_at_twice(trained.schema), stacklevel=4)
        if len(trained.summary.classes) == 1:
            only = visible(shown(trained.summary.classes[0]))
            warnings.warn(f"There is only one class, '{only}': it will always be the answer.", stacklevel=4)
        return self

    @writes
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows. New classes, categories and columns are welcome, and so are values of another type.

        Families and smoothing of columns left open follow what was learned; text recipes and calibration stay.
        """
        self._refuse_fading()
        batch, label = labelled_rows(X, y, sample_weight)
        declared = frozenset(key for key in map(key_of, [] if classes is None else classes) if key is not None)
        refuse_undeclared(batch, declared)
        if not self.__sklearn_is_fitted__():
            self._become(fit_first_batch(self._options(), batch, label, declared), first=True, unread=True)
            return self
        batch = self._met(batch)
        if self._stream is None and may_wait(self._trained, batch, declared):
            self._wait(batch)
            return self
        before = replace(self._remembered, options=self._options())
        self._become(learn_rows(before, [batch], declared, sample=batch), unread=True)
        return self

    @writes
    def learn(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows, as `partial_fit` does. `y` may be left out where the model knows the name of its column."""
        return self.partial_fit(X, self._label(y), sample_weight=sample_weight)

    @writes
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows back exactly, as if they had never been learned. All of them, or none if one was not.

        Classes and columns that only they had go with them, and so does what `fit` measured. Families, bins and
        smoothing are read off what is left. What was chosen from whole rows (calibration, text recipes) may still bear
        traces of them; `refit` with the rows that are left makes it anew.
        """
        check_is_fitted(self)
        batch, _ = labelled_rows(X, self._label(y), sample_weight)
        before = self._remembered
        after = forget_rows(before, [self._met(batch)])
        self._become(after, first=after.schema.columns != before.schema.columns, unread=True)
        return self

    @writes
    def refit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Make choices anew: without rows, what can be read off the counts; with rows, every choice.

        The rows are those that were learned and not forgotten, given again; others are refused. Afterwards this is the
        model that `fit` makes of them: nothing is left of rows that were forgotten, not even in what was chosen.
        """
        check_is_fitted(self)
        if X is None:
            self._become(reread(self.trained_))
            return self
        y = self._label(y)
        batch, _ = labelled_rows(X, y, sample_weight)
        refuse_others(self.trained_, [self._met(batch)])
        return self.fit(X, y, sample_weight)

    @reads
    def knows(self, X: Any, y: Any = None) -> BoolArray:
        """Whether each row, with its label, was learned and not forgotten: what a ledger can tell, and prove.

        >>> model = NaiveBayes(ledger=True).fit({"size": [1, 2]}, ["a", "b"]).forget({"size": [2]}, ["b"])
        >>> model.knows({"size": [1.0, 2.0]}, ["a", "b"]).tolist()
        [True, False]
        """
        check_is_fitted(self)
        batch, _ = labelled_rows(X, self._label(y), None)
        return knows_rows(self.trained_, self._met(batch))

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn one row in place: a text, or {column: value} where an absent column is missing.

        New columns, words, categories and classes are welcome. A model that was never fitted may begin here. A column
        without a family given is taken by its first value at first: x itself, and strings in the column "text", are
        text, other strings categories, truth values bernoulli, numbers gaussian. When it is asked once there are 16
        rows, and whenever there are four times as many, its family is read off all of them, among those that can be
        asked between rows. When the model is frozen, to be saved or to predict many rows, it is read off among all, as
        `fit` does.

        >>> filter = NaiveBayes().learn_one("win a prize now", "spam").learn_one("see you at noon", "ham")
        >>> filter.predict_one("a prize for you"), filter.forget_one("win a prize now", "spam").predict_one("a prize")
        ('spam', 'ham')
        """
        with self._writing:
            stream = self._opened()
            if stream is None:
                stream = open_stream(TrainedModel.empty(self._options()), self.half_life)
            if stream.learn(x, y) or self._stream is None:
                twin = self._twin()
                twin._stream, twin._latest = stream, {}
                twin._note_columns(tuple(stream.columns))
                self._take_on(twin)
        return self

    def forget_one(self, x: Any, y: Any) -> Self:
        """Take one row back, as if it had never been learned; refused where it cannot have been."""
        check_is_fitted(self)
        with self._writing:
            stream = self._opened()
            assert stream is not None
            if stream.forget(x, y):
                twin = self._twin()
                twin._note_columns(tuple(stream.columns))
                self._take_on(twin)
        return self

    def predict_one(self, x: Any) -> Any:
        """The most probable class of one row, straight from the counts; None where nothing was learned yet."""
        stream = self._opened()
        return None if stream is None else stream.best(x, self.priors, self.class_weight)

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """P(class | row) of every class, straight from the counts; empty where nothing was learned yet."""
        stream = self._opened()
        return {} if stream is None else stream.posterior(x, self.priors, self.class_weight)

    @reads
    def __add__(self, other: NaiveBayes) -> NaiveBayes:
        """What both have learned, exactly as if one had learned it all. Options are this one's."""
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.get_params(), other.get_params()
        kept = [name for name in mine if mine[name] != theirs[name]]
        if kept:
            warnings.warn(f"The models disagree in {', '.join(kept)}: kept those of the left one.", stacklevel=3)
        return type(self).of(reread(merge_two(self.trained_, other.trained_)))

    @reads
    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the model to a file that `candide.load` and the command line read.

        A file that is there and is no model is written over only by `force`.
        """
        check_is_fitted(self)
        trained = self.trained_
        origin = trained.provenance or store.provenance([], trained.summary.rows)
        store.save(replace(trained, provenance=origin), path, force)

    @reads
    def report(
        self,
        output: str | os.PathLike[str] | None = None,
        data: Any = None,
        label: Any = None,
        *,
        picture: str | None = None,
        column: str | None = None,
        of: str | None = None,
        against: str | None = None,
        strict: bool = False,
        force: bool = False,
    ) -> None:
        """Write one HTML page with pictures of all that was learned; measured on rows with labels, where given.

        `label` is one label a row, or the name of the column that holds them, where the model does not know it. The
        rest is as in `candide.report`.
        """
        from candide.api.verbs.reporting import report

        check_is_fitted(self)
        tested = None
        if data is not None and not isinstance(label, str | None):
            data, label, tested = None, None, self.evaluate(data, label, strict=strict)
        report(
            self, output, data, label, picture=picture, column=column, of=of, against=against, tested=tested,
            strict=strict, force=force,
        )  # fmt: skip

    @reads
    def inspect(self, knows: Any = None) -> dict[str, Any]:
        """What the model knows and how it came to know it, as plain data; `knows` are rows to look for: see `inspect`.

        >>> card = NaiveBayes("gaussian").fit({"size": [1, 2, 4]}, ["a", "a", "b"]).inspect()
        >>> card["rows"], [(one["class"], one["rows"]) for one in card["classes"]]
        (3, [('a', 2), ('b', 1)])
        """
        from candide.api.verbs.inspecting import inspect

        check_is_fitted(self)
        return inspect(self, knows=knows)

    @reads
    def plot(
        self, picture: str, column: str | None = None, of: str | None = None, against: str | None = None
    ) -> Figure:
        """A picture as a matplotlib figure: "nomogram", "feature" (of a column), "telling", "reliability", ..."""
        from candide.api.verbs.reporting import plot

        check_is_fitted(self)
        return plot(self, picture, column, of, against)

    @classmethod
    def of(cls, trained: TrainedModel) -> Self:
        """A classifier that has learned this."""
        model = cls(**trained.options.as_dict())
        model._become(trained, first=True)
        return model

    @reads
    def predict(self, X: Any, strict: bool = False) -> AnyArray:
        """The most probable class of each row; ties go to the first.

        A column that the rows lack counts as missing in them, with a warning, or is refused if `strict`; so it is in
        all that follows.
        """
        return self.classes_[np.concatenate(self._by_rows(X, lambda batch: self.predictor_.best(batch), strict))]

    @reads
    def decide(
        self, X: Any, confidence: float = CONFIDENCE, rarity: float = RARITY, strict: bool = False
    ) -> AnyArray:
        """The class of each row, or "unsure", or "unfamiliar".

        Unsure is a row whose most probable class is less probable than `confidence`: of the rows that are answered, at
        least about that share is answered rightly, since probabilities are calibrated. Unfamiliar is a row so little
        expected that at most a share `rarity` of the rows learned would be; or one of which nothing was ever seen.
        """
        predictor, novelty = self.predictor_, self.trained_.tuning.novelty
        parts = self._by_rows(X, lambda batch: decided(predictor, novelty, batch), strict)
        return np.concatenate([answers(predictor, part, confidence, rarity) for part in parts])

    @reads
    def predict_proba(self, X: Any, priors: Priors | None = None, strict: bool = False) -> FloatArray:
        """P(class | row). `priors` replaces the learned prior, for rows from a world with other proportions."""
        shift, prior = self._prior_shift(priors)
        parts = self._by_rows(X, lambda batch: normalised(self.predictor_.reported(batch) + shift, prior), strict)
        return np.concatenate(parts)

    @reads
    def predict_log_proba(self, X: Any, priors: Priors | None = None, strict: bool = False) -> FloatArray:
        """log P(class | row)."""
        shift, prior = self._prior_shift(priors)
        parts = self._by_rows(X, lambda batch: log_normalised(self.predictor_.reported(batch) + shift, prior), strict)
        return np.concatenate(parts)

    @reads
    def predict_joint_log_proba(self, X: Any, strict: bool = False) -> FloatArray:
        """log P(class) + log P(row | class): the prior and every feature's term, added up."""
        return np.concatenate(self._by_rows(X, lambda batch: self.predictor_.joint(batch), strict))

    @reads
    def score_samples(self, X: Any, strict: bool = False) -> FloatArray:
        """log P(row): how familiar each row is."""
        return np.concatenate(self._by_rows(X, lambda batch: log_sum(self.predictor_.log_likelihood(batch)), strict))

    @reads
    def explain(
        self, X: Any, rows: Sequence[int] | None = None, *, strict: bool = False
    ) -> list[ReadableExplanation]:
        """Why: for each row, or some (counted from 1), the prior and one term a feature, adding up to the joint."""
        batch = X if rows is None else rows_numbered(Batch.of(X), rows)
        novelty = self.trained_.tuning.novelty
        parts = self._by_rows(batch, lambda part: explained(self.predictor_, novelty, part), strict)
        return [ReadableExplanation.of(one) for part in parts for one in part]

    @reads
    def score(self, X: Any, y: Any, sample_weight: Any = None, strict: bool = False) -> float:
        """The share of rows that are answered rightly. `y` is one label a row, or the name of their column."""
        batch, _ = labelled_rows(X, y, sample_weight)
        best = np.concatenate(self._by_rows(batch, self.predictor_.best, strict))
        indices = {key: index for index, key in enumerate(self.predictor_.classes)}
        assert batch.labels is not None
        return float(np.average(batch.labels.renumbered(indices) == best, weights=batch.weights))

    @reads
    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        leave_one_out: bool = False,
        folds: int | None = None,
        seed: int | None = None,
        sample_weight: Any = None,
        strict: bool = False,
    ) -> evaluation.Evaluation:
        """How good the answers are: accuracy, log loss, calibration, each class, the rows whose label looks wrong.

        The rows should be new ones. With `leave_one_out` they are rows that were learned (all of them, or some), each
        judged by what all others taught: exact, and no test set is needed. With `folds` the rows are dealt into so
        many parts, and each is judged by a model fitted on the others; what this model has learned does not matter.
        `y` may be left out where the model knows its label column by name. Rows are counted
        from 1, as everywhere.

        >>> rows = {"weather": ["sun", "rain", "rain", "sun"] * 5, "plan": ["beach", "home", "home", "beach"] * 5}
        >>> found = NaiveBayes().fit(rows, "plan").evaluate(rows, leave_one_out=True)
        >>> found.kind, found.rows, found.accuracy
        ('leave-one-out', 20, 1.0)
        """
        evaluation.refuse_two_ways(leave_one_out, folds, seed)
        batch, label = labelled_rows(X, self._label(y), sample_weight)
        if folds is not None:
            self._refuse_fading()
            return evaluation.in_folds(self._options(), batch, folds, seed=seed or 0, label=label)
        check_is_fitted(self)
        batch = self._met(batch)
        if not leave_one_out:
            batch = self._completed(batch, strict, calls_between=1)
            trained = self.trained_
            engine = engines.engine_of(trained)
            found = evaluation.on_rows(self.predictor_, [batch], engine, label=label or trained.label)
            learned = evaluation.notes_on_learned_rows(trained, found, lambda: [batch])
            return replace(found, notes=(*found.notes, *learned))
        trained = replace(self.trained_, options=self._options())
        evaluation.refuse_never_learned(trained, [batch])
        return evaluation.left_out(trained, [batch])

    @reads
    def sample(self, n: int = 10, label: Any = None, seed: Any = None) -> pa.Table:
        """Draw `n` rows as an Arrow table, label last: of one class, or of all in proportion to their priors.

        Columns hold what they held when families were chosen: whole numbers, none below zero, times as times.
        """
        check_is_fitted(self)
        trained, rng = self.trained_, np.random.default_rng(seed)
        wanted = None if label is None else key_of(meant_class(label, trained.summary.classes))
        return drawn_rows(self.predictor_, trained.schema, trained.label, n, wanted, rng)

    @property
    @reads
    def trained_(self) -> TrainedModel:
        """Everything asked for, chosen and learned; frozen anew when rows came one by one since."""
        trained = self._remembered
        if not self._is_unread:
            return trained
        latest = self._latest.get("read")
        if latest is None or latest[0] is not trained:
            latest = self._latest["read"] = trained, reread(trained)
        return latest[1]

    @property
    def _remembered(self) -> TrainedModel:
        """Everything learned, with choices that may be older than the counts."""
        if not self._waiting:
            return self._chosen
        if "learned" not in self._latest:
            self._latest["learned"] = learn_waiting(self._trained, self._waiting)
        learned: TrainedModel = self._latest["learned"]
        return learned

    @property
    def _chosen(self) -> TrainedModel:
        """Everything but the rows that wait to be learned, which change no choice."""
        if self._stream is not None:
            return self._stream.freeze()
        if "_trained" not in vars(self):
            raise AttributeError("trained_")
        return self._trained

    @property
    @reads
    def predictor_(self) -> Predictor:
        """The parameters: made from the summary when first asked for, and again when the priors are changed."""
        check_is_fitted(self)
        trained, wanted = self.trained_, (self.priors, self.class_weight)
        if wanted == (trained.options.priors, trained.options.class_weight):
            return trained.predictor
        latest = self._latest.get("model")
        if latest is None or latest[0] is not trained or latest[1] != wanted:
            latest = self._latest["model"] = trained, wanted, trained.predictor_for(*wanted)
        found: Predictor = latest[2]
        return found

    @property
    @reads
    def learned_(self) -> TrainedModel:
        """The former name of `trained_`."""
        return self.trained_

    @property
    @reads
    def model_(self) -> Predictor:
        """The former name of `predictor_`."""
        return self.predictor_

    @property
    @reads
    def schema_(self) -> Schema:
        """What was decided about each column, and why."""
        check_is_fitted(self)
        return self.trained_.schema

    @property
    @reads
    def summary_(self) -> Summary:
        """All that is remembered of the rows."""
        check_is_fitted(self)
        return self.trained_.summary

    @property
    @reads
    def classes_(self) -> AnyArray:
        """The labels, sorted."""
        check_is_fitted(self)
        return as_array(self.summary_.classes)

    @property
    @reads
    def class_count_(self) -> AnyArray:
        """The weight of the rows of each class."""
        check_is_fitted(self)
        return self.summary_.counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._stream is not None or "_trained" in self.__dict__

    def _options(self) -> Options:
        """The options of exact learning: fading is a matter of the stream."""
        options = self.get_params(deep=False)
        del options["half_life"]
        engines.refuse_unknown_engine(self.engine)
        return Options(**options)

    def _label(self, y: Any) -> Any:
        """The labels given, or the name of the column that holds them, where the model knows it."""
        return self._chosen.label if y is None and self.__sklearn_is_fitted__() else y

    def _refuse_fading(self) -> None:
        """Many rows at once have no order in which to fade."""
        if self.half_life is not None:
            raise OptionRefused(
                SetOption("half_life", self.half_life),
                " is for streams.",
                advice=("Learn rows one after another with learn_one, or use ", SetOption("half_life", None), "."),
            )

    def _become(self, trained: TrainedModel, first: bool = False, unread: bool = False) -> None:
        """Take on what was learned, as the last step: whatever can be refused was refused before."""
        self._trained, self._waiting = trained, ()
        self._is_unread = unread
        self._stream = None
        self._latest = {}
        if first:
            self._note_columns(trained.schema.columns)

    def _wait(self, batch: Batch) -> None:
        """Let rows wait to be learned, unless some do already and are many."""
        options = self._options()
        waiting = with_waiting(self._waiting, batch, self._trained)
        if options != self._trained.options or "learned" in self._latest or are_many(waiting):
            waiting = with_waiting((), batch, self._trained)
            self._become(replace(self._remembered, options=options))
        self._waiting, self._is_unread, self._latest = waiting, True, {}

    def _note_columns(self, names: tuple[str, ...]) -> None:
        """What scikit-learn wants to know of the columns."""
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if not is_numbered(names):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _still(self) -> Self:
        """The state of this moment, frozen: the stream goes on without it. What fades cannot be frozen."""
        twin = super()._still()
        if twin._stream is not None and twin._stream.half_life is None:
            twin._trained, twin._stream = twin._stream.freeze(), None
        elif twin._waiting:
            twin._trained, twin._waiting = twin._remembered, ()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {**state, "_stream": deepcopy(state.get("_stream"))}

    def _opened(self) -> Stream | None:
        """The stream of single rows, opened over what was learned so far; nothing where nothing was."""
        stream = self._stream
        if stream is None and self.__sklearn_is_fitted__():
            with self._writing:
                stream = self._stream or open_stream(replace(self.trained_, options=self._options()), self.half_life)
                self._stream, self._is_unread, self._waiting = stream, False, ()
                self.__dict__.pop("_trained", None)  # the stream has it all, and may come to forget it
        if stream is not None and stream.half_life != self.half_life:
            raise OptionRefused(
                NamedOption("half_life"), " cannot change once rows were learned.", advice="Begin with a new model."
            )
        return stream

    def _by_rows(self, X: Any, work: Callable[[Batch], Result], strict: bool = False) -> list[Result]:
        """Do something with the rows, some at a time on every core; results in order."""
        check_is_fitted(self)
        self.predictor_  # noqa: B018  (made once, before threads ask for it)
        batch = self._met(Batch.of(X))
        refuse_nothing(batch)
        batch = self._completed(batch, strict)
        some = parts_to_answer(batch, self.predictor_.blocks)
        return list(engines.engine_of(self.trained_).map(work, some))

    def _prior_shift(self, priors: Priors | None) -> tuple[Any, FloatArray]:
        """What to add to every row's joint for other priors, and the log prior then in force."""
        check_is_fitted(self)
        if priors is None:
            return 0.0, self.predictor_.log_prior
        self.predictor_.refuse_other_priors()
        wanted = log_priors(self.summary_, priors)
        if np.isneginf(self.predictor_.log_prior).any():
            raise OptionRefused(
                NamedOption("priors"), " cannot be replaced where a class has no rows and so no chance at all."
            )
        return wanted - self.predictor_.log_prior, wanted

    def _completed(self, batch: Batch, strict: bool, calls_between: int = 2) -> Batch:
        """Rows with every column the model asks for: missing where they lack one, which is said once a call."""
        absent = lacking(self.trained_.schema, batch.names, strict)
        for note in absent_columns_notes(absent, batch.names):
            warnings.warn(note, MissingColumnWarning, stacklevel=3 + calls_between)
        return batch.with_missing(absent)

    def _met(self, batch: Batch) -> Batch:
        """Rows under the names that were learned; arrays have none, so they must be as wide as those learned from."""
        if is_numbered(batch.names) and len(batch.names) != self.n_features_in_:
            raise RowsRefused(
                f"X has {len(batch.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input.",
                advice="Give the columns it learned from.",
                expected=f"{self.n_features_in_} features",
            )
        return met(self._chosen.schema, batch)


def looked_at_twice(schema: Schema) -> ColumnWarning:
    """What to know of some columns, in a few lines."""
    said = list(schema.warnings.items())
    lines: list[Part] = ["Columns to look at twice:"]
    for column, warning in said[:COLUMNS_WARNED_OF]:
        parts = message_parts(warning)
        lines += [f"\n{visible(column)}: ", *(visible(part) if isinstance(part, str) else part for part in parts)]
    if len(said) > COLUMNS_WARNED_OF:
        lines += [f"\nand {len(said) - COLUMNS_WARNED_OF:,} more columns, which schema_.explain() tells of"]
    return ColumnWarning(*lines)


def refuse_other_choices(asked: Options, made: Options) -> None:
    """Raise where a model that is to be like another is asked for something else."""
    for name in ("families", "smoothing", "missing", "text", "calibrate", "dependence", "refine"):
        if getattr(asked, name) not in (getattr(Options(), name), getattr(made, name)):
            raise OptionRefused(
                NamedOption("like"),
                " takes ",
                NamedOption(name),
                " from the other model.",
                advice=("Leave ", NamedOption(name), " as it is there, or out."),
            )


def labelled_rows(X: Any, y: Any, weights: Any, all_labelled: bool = True) -> tuple[Batch, str | None]:
    """Rows with labels, and the name of the label column where one was given."""
    if y is None:
        raise LabelsRefused(
            "requires y to be passed, but the target y is None.",
            advice="Give one label a row, or the label column's name.",
            expected="one label a row",
        )
    name = y if isinstance(y, str) else None
    if name is not None:
        everything = Batch.of(X)
        index = everything.position(name)
        y = everything.columns.raw(index)
        X = everything.only([other for other in everything.names if other != name])
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected. Give y.ravel()."
        warnings.warn(message, DataConversionWarning, stacklevel=4)
    batch = Batch.of(X, y, weights, all_labelled)
    refuse_nothing(batch)
    return batch, name


def refuse_beside_frame(y: Any, weights: Any, like: Any) -> None:
    """Raise where something is to go along with rows that are not here."""
    if not isinstance(y, str) or weights is not None or like is not None:
        raise LabelsRefused(
            "Rows of a frame of a cluster have their labels in one of its columns, weigh one each, and are chosen for "
            "anew.",
            advice="Name the column of labels, and give nothing else.",
            expected="the name of the column of labels",
        )


def rows_numbered(batch: Batch, rows: Sequence[int]) -> Batch:
    """Some rows, counted from 1, in the order asked for."""
    for row in rows:
        refuse_row_below_one(row)
        if row > len(batch):
            raise RowsRefused(
                f"There is no row {row:,}: {len(batch):,} rows were given.",
                where=Location(row=row),
                expected=f"a row from {FIRST_ROW} to {len(batch)}",
            )
    return batch.take(np.array(rows, dtype=np.int64) - FIRST_ROW)


def refuse_nothing(batch: Batch) -> None:
    """Raise where there is not a row or not a column."""
    if not batch.names:
        raise RowsRefused(EMPTY.format((len(batch), 0)))
    if not len(batch):
        raise RowsRefused("Found array with 0 sample(s): there is not a single row.", advice="Give at least one.")
    if batch.weights is not None and not batch.weights.any():
        raise RowsRefused(
            "Sample weights must contain at least one non-zero number: every row weighs nothing.",
            expected="a weight above zero",
        )


def load(path: str | os.PathLike[str]) -> NaiveBayes:
    """The classifier in a model file, ready to predict, learn more and forget."""
    return NaiveBayes.of(store.load(path))
