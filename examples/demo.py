"""The tour: a mixed table fitted, judged and explained; summaries that add up; the lecture's examples by number."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from candide import NaiveBayes

ORCHARD = Path(__file__).with_name("orchard.csv")


def main() -> None:
    print("Candide: naive Bayes taken seriously.")
    print("(The first run compiles its kernels, which takes some seconds; later runs find them on disk.)")
    orchard()
    adding_up()
    feelings()
    spam()
    passengers()


def title(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}")


def orchard() -> None:
    title("1. A table of any mixture: numbers, counts, categories, gaps")
    table = pa.csv.read_csv(ORCHARD, convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))
    learn, test = table.slice(0, 450), table.slice(450)
    model = NaiveBayes().fit(learn, "fruit")
    print(f"Learned from {len(learn)} rows of {ORCHARD.name}. What was decided about each column, and why:\n")
    print(indented(model.schema_.explain()))
    print("\nOn the 150 rows it has not seen:\n")
    confusion(model, test)
    print("\nWhy the first of them got its answer (log odds, strongest first):\n")
    print(indented(str(model.explain(test.slice(0, 1))[0])))
    print("\nThree plums it has never met, drawn from what it learned:\n")
    print(indented(rows_of(model.sample(3, label="plum", seed=4))))


def confusion(model: NaiveBayes, test: pa.Table) -> None:
    truth, answer = np.array(test["fruit"].to_pylist()), model.predict(test)
    print("   truth \\ answer " + "".join(f"{name:>8}" for name in model.classes_))
    for name in model.classes_:
        counts = [int(((truth == name) & (answer == other)).sum()) for other in model.classes_]
        print(f"   {name:>14} " + "".join(f"{count:>8}" for count in counts))
    print(f"\n   right: {(truth == answer).mean():.1%}")


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


def counted(texts: list[str], words: list[str]) -> dict[str, list[int]]:
    return {word: [text.lower().split().count(word) for text in texts] for word in words}


def feelings() -> None:
    title("3. The lecture, multinomial with add-1 smoothing")
    texts, labels = zip(*LECTURE_TEXTS, strict=True)
    words = sorted({word for text in texts for word in text.lower().split()})
    model = NaiveBayes("multinomial", smoothing=1).fit(counted(list(texts), words), list(labels))
    question = counted(["Love Pain Joy Love Kick"], words)
    joint = np.exp(model.predict_joint_log_proba(question)[0])
    print('"Love Pain Joy Love Kick":')
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


PASSENGERS = """3f31-0>0 3f31-0>1 1f31-0>1 1f31-2>1 3f31-1>1 2m31-0>0 2f31-0>1 2m31-1>0 1m31-0>0 2m31-0>1
    1m31-0>1 3m31-0>1 3m31-0>0 2f31-1>1 1m52-1>0 1m52-0>1 1f52-0>1 2m52-0>0 1f52-1>1""".split()


def passengers() -> None:
    title("5. The lecture's nineteen passengers, categories without smoothing")
    columns = {
        "class": [int(p[0]) for p in PASSENGERS],
        "sex": ["female" if p[1] == "f" else "male" for p in PASSENGERS],
        "age": [int(p[2:4]) for p in PASSENGERS],
        "parents_children": [int(p[5]) for p in PASSENGERS],
    }
    model = NaiveBayes("categorical", smoothing=0).fit(columns, [int(p[-1]) for p in PASSENGERS])
    for age in (31, 25):
        question = {"class": [1], "sex": ["male"], "age": [age], "parents_children": [0]}
        chance = model.predict_proba(question)[0, 1]
        seen = "" if age == 31 else "   (an age nobody had: no evidence, not zero)"
        print(f"   first class, male, {age}, alone: P(survived) = {chance:.4f}{seen}")


def rows_of(table: pa.Table) -> str:
    shown = {name: [str(v) if not isinstance(v, float) else f"{v:.1f}" for v in table[name].to_pylist()]
             for name in table.column_names}
    widths = {name: max(len(name), *map(len, values)) for name, values in shown.items()}
    lines = ["  ".join(f"{name:>{widths[name]}}" for name in shown)]
    lines += ["  ".join(f"{shown[name][i]:>{widths[name]}}" for name in shown) for i in range(len(table))]
    return "\n".join(lines)


def indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())


if __name__ == "__main__":
    main()
