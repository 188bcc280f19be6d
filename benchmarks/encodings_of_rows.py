"""How rows become the matrices scikit-learn wants: fitted on the rows learned, applied to the rows tested."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from real_data import DataSet

BINS = 10
FREQUENT = 2000
Matrices = tuple[Any, Any]
Encoding = Callable[["Split"], Matrices]


@dataclass
class Split:
    """One fold: rows to learn and rows to test; encodings are made once and shared by all methods."""

    data: DataSet
    train: Any
    test: Any
    made: dict[Encoding, tuple[Matrices, float]] = field(default_factory=dict)

    @property
    def labels(self) -> Any:
        return self.data.labels[self.train]

    @property
    def truth(self) -> Any:
        return self.data.labels[self.test]

    def encoded(self, encoding: Encoding) -> tuple[Matrices, float]:
        """The matrices and the seconds it took to make them, which every method pays that uses them."""
        if encoding not in self.made:
            before = self.encoded(BUILT_ON[encoding])[1] if encoding in BUILT_ON else 0.0
            start = time.perf_counter()
            matrices = encoding(self)
            self.made[encoding] = matrices, before + time.perf_counter() - start
        return self.made[encoding]

    def frames(self, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Some columns of the rows to learn and to test."""
        frame = self.data.rows[names]
        return frame.iloc[self.train], frame.iloc[self.test]


def one_hot(split: Split, scaler: Any, dense: bool = False) -> Matrices:
    """A column for every category, missing being one, unseen none; numbers scaled, missing ones the mean."""
    categories = split.data.categories
    numbers = make_pipeline(SimpleImputer(), scaler)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=not dense)
    transformer = ColumnTransformer(
        [("categories", encoder, categories), ("numbers", numbers, split.data.others(categories))],
        sparse_threshold=0.0 if dense else 0.3,
    )
    train, test = split.frames(list(split.data.rows))
    return transformer.fit_transform(train), transformer.transform(test)


def one_hot_standardised(split: Split) -> Matrices:
    return one_hot(split, StandardScaler())


def one_hot_from_zero_to_one(split: Split) -> Matrices:
    return one_hot(split, MinMaxScaler(clip=True))


def one_hot_and_numbers(split: Split) -> Matrices:
    return one_hot(split, "passthrough", dense=True)


def numbers_as_they_are(split: Split) -> Matrices:
    """Every column as a number, categories by their codes: a forest needs no more."""
    strings = [name for name in split.data.rows if not pd.api.types.is_numeric_dtype(split.data.rows[name])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    transformer = ColumnTransformer(
        [("strings", encoder, strings), ("numbers", SimpleImputer(), split.data.others(strings))]
    )
    train, test = split.frames(list(split.data.rows))
    return transformer.fit_transform(train), transformer.transform(test)


def categories_and_bins(split: Split) -> Matrices:
    """A code for every value of a column with few, or for its tenth of the rows learned."""
    few = split.data.few_valued
    train, test = split.frames(list(split.data.rows))
    return stacked([codes(*((train[n], test[n]) if n in few else binned(train[n], test[n]))) for n in split.data.rows])


def categories_and_bins_one_hot(split: Split) -> Matrices:
    """The same codes, a yes-or-no column each."""
    (train, test), _ = split.encoded(categories_and_bins)
    encoder = OneHotEncoder(handle_unknown="ignore")
    return encoder.fit_transform(train), encoder.transform(test)


def few_valued_codes(split: Split) -> Matrices:
    """The codes of the columns that are categories; no matrix where there are none."""
    train, test = split.frames(split.data.few_valued)
    return stacked([codes(train[name], test[name]) for name in train])


def many_valued_numbers(split: Split) -> Matrices:
    """All other columns, missing ones the mean; no matrix where there are none."""
    names = split.data.others(split.data.few_valued)
    if not names:
        return None, None
    train, test = split.frames(names)
    imputer = SimpleImputer(keep_empty_features=True)
    return imputer.fit_transform(train), imputer.transform(test)


def stacked(columns: list[Matrices]) -> Matrices:
    if not columns:
        return None, None
    return np.column_stack([train for train, _ in columns]), np.column_stack([test for _, test in columns])


def codes(train: pd.Series, test: pd.Series) -> Matrices:
    """1, 2, ... for the values seen, missing being one of them; 0 for a value never seen."""
    found, values = pd.factorize(train, use_na_sentinel=False)
    return found + 1, pd.Index(values).get_indexer(test) + 1


def binned(train: pd.Series, test: pd.Series) -> tuple[pd.Series, pd.Series]:
    """The tenth a number falls into; missing stays missing."""
    edges = np.unique(train.quantile(np.arange(1, BINS) / BINS).to_numpy())
    indices = [pd.Series(np.searchsorted(edges, side, side="right")) for side in (train, test)]
    return indices[0].where(train.notna().to_numpy()), indices[1].where(test.notna().to_numpy())


def word_counts(split: Split) -> Matrices:
    vectorizer = CountVectorizer()
    return vectorizer.fit_transform(split.data.part(split.train)), vectorizer.transform(split.data.part(split.test))


def tf_idf(split: Split) -> Matrices:
    """As TfidfVectorizer does, from the counts already made."""
    (train, test), _ = split.encoded(word_counts)
    transformer = TfidfTransformer()
    return transformer.fit_transform(train), transformer.transform(test)


def tf_idf_of_frequent_words(split: Split) -> Matrices:
    """The words most frequent in the rows learned, for what cannot cope with all."""
    (train, test), _ = split.encoded(tf_idf)
    frequent = np.argsort(-train.getnnz(axis=0), kind="stable")[:FREQUENT]
    return train[:, frequent], test[:, frequent]


BUILT_ON = {tf_idf: word_counts, tf_idf_of_frequent_words: tf_idf, categories_and_bins_one_hot: categories_and_bins}
