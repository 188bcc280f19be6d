"""Read handwritten digits, then write some: what "generative" means, on the images that come with scikit-learn.

    python examples/digits.py digits.png
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from candide import NaiveBayes
from candide.show.pictures.theme import new_figure, save_figure, styled

DRAWN_EACH = 50
SHOWN_EACH = 2
DARKEST = 16


def main(picture: str = "digits.png", images: int = 1797) -> None:
    pixels, labels = load_digits(return_X_y=True)
    pixels, labels = pixels[:images], labels[:images]
    reader = read(pixels, labels)
    apart = NaiveBayes("gaussian", smoothing="default", calibrate=False).fit(pixels, labels)
    together = NaiveBayes("gaussian_full", smoothing="default", calibrate=False).fit(pixels, labels)
    print(f"\nDrew {DRAWN_EACH} new images of each digit from what was learned. They are read as what was meant:")
    print(f"   {recognised(reader, apart):6.1%} where each pixel has a bell of its own, independent of the others,")
    print(f"   {recognised(reader, together):6.1%} where all pixels share one bell with a covariance.")
    bands = {
        "real": real(pixels, labels),
        "drawn,\neach pixel\nby itself": drawn(apart, SHOWN_EACH),
        "drawn,\nwith a\ncovariance": drawn(together, SHOWN_EACH),
    }
    save_figure(gallery(bands), picture)
    print(f"\nReal digits above, drawn ones below: {picture}")


def read(pixels: np.ndarray, labels: np.ndarray) -> NaiveBayes:
    """A model that has learned two thirds of the images, and says how many of the others it can read."""
    split = train_test_split(pixels, labels, test_size=1 / 3, random_state=0, stratify=labels)
    learned, kept_back, label, truth = split
    model = NaiveBayes().fit(learned, label)
    print(f"{len(pixels):,} images of 8 x 8 pixels: {len(learned):,} learned, {len(kept_back):,} kept back.")
    print(f"   {model.score(kept_back, truth):6.1%} of those kept back are read rightly by NaiveBayes(),")
    plain = NaiveBayes("gaussian").fit(learned, label).score(kept_back, truth)
    print(f"   {plain:6.1%} with a bell for each pixel, as in the lecture.")
    return model


def drawn(model: NaiveBayes, each: int, seed: int = 4) -> np.ndarray:
    """New images[digit, number, pixel], as dark as ink can be."""
    names = [choice.column for choice in model.schema_.choices]
    tables = [model.sample(each, label=digit, seed=seed) for digit in range(10)]
    return np.clip([np.column_stack([table[name] for name in names]) for table in tables], 0, DARKEST)


def recognised(reader: NaiveBayes, writer: NaiveBayes) -> float:
    """How many of the drawn images are read as the digit they were drawn for."""
    images = drawn(writer, DRAWN_EACH)
    return float(reader.score(images.reshape(-1, images.shape[2]), np.repeat(np.arange(10), DRAWN_EACH)))


def real(pixels: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The first images of each digit, in the shape of drawn ones."""
    return np.array([pixels[labels == digit][:SHOWN_EACH] for digit in range(10)])


def gallery(bands: dict[str, np.ndarray]):
    """A picture with a column for each digit: real ones above, drawn ones below."""
    figure = new_figure(7.5, 5.2)
    heights = [*[1.0] * SHOWN_EACH, 0.3] * len(bands)
    with styled():
        grid = figure.add_gridspec(len(heights) - 1, 11, width_ratios=[1.4, *[1.0] * 10], height_ratios=heights[:-1])
        for band, (name, images) in enumerate(bands.items()):
            top = band * (SHOWN_EACH + 1)
            beside = figure.add_subplot(grid[top : top + SHOWN_EACH, 0])
            beside.text(0, 0.5, name, va="center", transform=beside.transAxes)
            beside.set_axis_off()
            for digit, number in np.ndindex(images.shape[:2]):
                axes = figure.add_subplot(grid[top + number, digit + 1])
                axes.imshow(images[digit, number].reshape(8, 8), cmap="binary", vmin=0, vmax=DARKEST)
                axes.set_axis_off()
    return figure


if __name__ == "__main__":
    main(*sys.argv[1:2])
