"""Candide in Python: a spam filter, summaries that add up, and the lecture's examples by number."""

import json
from pathlib import Path

import numpy as np

from candide import NaiveBayes

MESSAGES = Path(__file__).with_name("messages.jsonl")


def main() -> None:
    spam_filter()
    adding_up()
    feelings()
    spam()
    passengers()


def title(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}")


def spam_filter() -> None:
    title("1. A spam filter in five lines")
    messages = [json.loads(line) for line in MESSAGES.read_text().splitlines()]
    texts, labels = [message["text"] for message in messages], [message["label"] for message in messages]
    model = NaiveBayes().fit(texts[:50], labels[:50])
    print(f"Learned from 50 messages of {MESSAGES.name}; of the other {len(texts) - 50} it knows", end=" ")
    print(f"{(model.predict(texts[50:]) == labels[50:]).sum()}. One of them, and why:\n")
    print(f'   "{texts[50]}"\n')
    print(indented(str(model.explain(texts[50:51])[0])))
    model.learn_one("lunch in the garden, free cake", "ham")
    chance = model.predict_proba_one("free cake")["ham"]
    print('\nAfter one more message, "lunch in the garden, free cake", which is ham:', end=" ")
    print(f'P(ham | "free cake") = {chance:.3f}')
    model.forget_one("lunch in the garden, free cake", "ham")
    chance = model.predict_proba_one("free cake")["ham"]
    print(f"And after forgetting it: {chance:.3f}")


def adding_up() -> None:
    title("2. Summaries add up, exactly")
    rng = np.random.default_rng(0)
    X, y = rng.normal(1.7e9, 10, size=(2000, 3)), rng.choice(["yes", "no"], 2000)
    whole = NaiveBayes("gaussian").fit(X, y)
    monday, tuesday = NaiveBayes("gaussian").fit(X[:700], y[:700]), NaiveBayes("gaussian").fit(X[700:], y[700:])
    print("2,000 timestamps around 1.7e9, learned whole, in two parts, and backwards in small batches:")
    backwards = NaiveBayes("gaussian")
    for row in reversed(range(0, 2000, 50)):
        backwards.partial_fit(X[row : row + 50], y[row : row + 50])
    print(f"   monday + tuesday == whole           {(monday + tuesday).summary_ == whole.summary_}")
    print(f"   backwards        == whole           {backwards.summary_ == whole.summary_}")
    print(f"   whole - tuesday  == monday          {whole.forget(X[700:], y[700:]).summary_ == monday.summary_}")


LECTURE_TEXTS = [
    ("Love Happy Joy Joy Happy", "Yes"),
    ("Happy Love Kick Joy Happy", "Yes"),
    ("Love Move Joy Good", "Yes"),
    ("Love Happy Joy Love Pain", "Yes"),
    ("Joy Love Pain Kick Pain", "No"),
    ("Pain Pain Love kick", "No"),
]


def feelings() -> None:
    title("3. The lecture, multinomial with add-1 smoothing")
    texts, labels = zip(*LECTURE_TEXTS, strict=True)
    model = NaiveBayes(smoothing=1).fit(list(texts), list(labels))
    question = ["Love Pain Joy Love Kick"]
    joint = np.exp(model.predict_joint_log_proba(question)[0])
    print(f'"{question[0]}":')
    for name, product in zip(model.classes_, joint, strict=True):
        print(f"   P({name}) x P(words | {name}) = {product:.3e}")
    print(f"   answer: {model.predict(question)[0]}, {model.predict_proba(question).max():.4f}")


def spam() -> None:
    title("4. The lecture's spam filter, without and with smoothing")
    mail = {"Dear": [8, 2], "Friend": [5, 1], "Lunch": [3, 0], "Money": [1, 4]}
    for text in ("Dear Friend", "Lunch Money Money Money Money"):
        question = {word: [text.split().count(word)] for word in mail}
        for smoothing in (0, 1):
            model = NaiveBayes("multinomial", smoothing=smoothing, priors={"Normal": 8 / 12, "Spam": 4 / 12})
            model.fit(mail, ["Normal", "Spam"])
            normal, junk = model.predict_proba(question)[0]
            print(f'   "{text}", add {smoothing}:  Normal {normal:.4f}  Spam {junk:.4f}')


PASSENGERS = (  # class, sex, age - parents or children > survived
    "3f31-0>0 3f31-0>1 1f31-0>1 1f31-2>1 3f31-1>1 2m31-0>0 2f31-0>1 2m31-1>0 1m31-0>0 2m31-0>1 "
    "1m31-0>1 3m31-0>1 3m31-0>0 2f31-1>1 1m52-1>0 1m52-0>1 1f52-0>1 2m52-0>0 1f52-1>1"
)


def passengers() -> None:
    title("5. The lecture's nineteen passengers, categories without smoothing")
    columns = {
        "class": [int(p[0]) for p in PASSENGERS.split()],
        "sex": ["female" if p[1] == "f" else "male" for p in PASSENGERS.split()],
        "age": [int(p[2:4]) for p in PASSENGERS.split()],
        "parents_children": [int(p[5]) for p in PASSENGERS.split()],
    }
    model = NaiveBayes("categorical", smoothing=0).fit(columns, [int(p[-1]) for p in PASSENGERS.split()])
    for age in (31, 25):
        question = {"class": [1], "sex": ["male"], "age": [age], "parents_children": [0]}
        chance = model.predict_proba(question)[0, 1]
        seen = "" if age == 31 else "   (an age nobody had: no evidence, not zero)"
        print(f"   first class, male, {age}, alone: P(survived) = {chance:.4f}{seen}")


def indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())


if __name__ == "__main__":
    main()
