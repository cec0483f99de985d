"""The language of a canal's keepers: invented words, terse sentences, and what each means for the desks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DESKS = ("dredging", "gates", "masonry", "moorings", "wildlife")
CONDITIONS = """blocked cracked crooked damp dusty faded flooded frozen greasy hollow jammed leaking loose muddy
noisy overgrown rotten rusted scratched silted slippery swollen tilted warped worn"""
EVENTS = "barges convoy drought fireworks fog frost hail inspection pumping rain rowers storm sunshine thaw"
PLACES = """aqueduct boathouse bollards bridge culvert footpath hedge island jetty lamps meadow mill orchard
pumphouse quay railing ramp shed sluice spillway stables tunnel weir wharf willows"""
MODIFIERS = {"": 0.44, "not ": 0.12, "no longer ": 0.07, "far from ": 0.07, "slightly ": 0.15, "badly ": 0.15}
ORDERS = ("{0} before {1}", "first {0} then {1}", "{1} after {0}", "{1} followed {0}")
HEADERS = (
    "Radio from {} at lock {}.",
    "Slip of keeper {}, lock {}:",
    "Phone call, {} on duty at lock {}.",
    "Letter of {}, lock {}.",
)
CLOSINGS = (
    "Please advise.",
    "All else quiet.",
    "Will write again on Sunday.",
    "Traffic normal for the time of year.",
    "The kettle works again, thank you.",
)


@dataclass(frozen=True)
class Canal:
    """The words of one canal and what each adds to the logits of the desks."""

    words: dict[str, np.ndarray]
    effects: dict[str, np.ndarray]
    """A row per word and a column per desk; for `order` a row per first and second event."""
    grades: np.ndarray
    """Factor by which each modifier changes the effect of a condition."""


@dataclass(frozen=True)
class Remarks:
    """Sentences and what each adds to the logits of the desks."""

    sentences: list[str]
    effects: np.ndarray


def draw_canal(rng: np.random.Generator) -> Canal:
    """The words and effects that make one canal different from the next."""
    words = {
        "beginning": _syllables(rng, "cvc", 8),
        "middle": _syllables(rng, "vcv", 300),
        "end": _syllables(rng, "cvc", 9),
        "keeper": np.char.capitalize(_syllables(rng, "cvccv", 40)),
        "condition": rng.choice(CONDITIONS.split(), 12, replace=False),
        "place": rng.choice(PLACES.split(), 12, replace=False),
        "event": rng.choice(EVENTS.split(), 6, replace=False),
        "header": np.array(HEADERS),
    }
    scales = {"beginning": 0.7, "end": 0.8, "condition": 1.25, "place": 1.0, "keeper": 1.0, "header": 0.6}
    effects = {name: rng.normal(0, scale, (len(words[name]), len(DESKS))) for name, scale in scales.items()}
    # Without a mean per desk, so that all desks are about equally busy.
    effects = {name: table - table.mean(axis=0) for name, table in effects.items()}
    pairs = rng.normal(size=(6, 6, len(DESKS)))
    effects["order"] = pairs - pairs.transpose(1, 0, 2)
    return Canal(words, effects, np.array([1, -1, -1, -1, rng.uniform(0.2, 0.5), rng.uniform(1.5, 1.9)]))


def _syllables(rng: np.random.Generator, shape: str, count: int) -> np.ndarray:
    """Different strings of consonants and vowels; more are drawn than needed, since some are equal."""
    letters = {"c": list("bdfgklmnprstvz"), "v": list("aeiou")}
    columns = [rng.choice(letters[kind], 4 * count) for kind in shape]
    return np.array(list(dict.fromkeys(map("".join, zip(*columns, strict=True))))[:count])


def draw_waves(rng: np.random.Generator, position: np.ndarray) -> np.ndarray:
    """A wave per desk over positions whose period is 1."""
    phases, heights = rng.random(len(DESKS)), rng.uniform(0.7, 1.2, len(DESKS))
    return heights * np.cos(2 * np.pi * (position[:, None] - phases))


def write_notes(rng: np.random.Generator, canal: Canal, rows: int, quoting: float) -> tuple[list[str], np.ndarray]:
    """The texts before misspelling, and the logits of the desks without the season."""
    keeper = (len(canal.words["keeper"]) * rng.beta(0.9, 1.4, rows)).astype(int)
    header = rng.integers(0, len(HEADERS), rows)
    logit = canal.effects["keeper"][keeper] + canal.effects["header"][header]
    bodies: list[list[str]] = [[] for _ in range(rows)]
    for make, most in ((_observations, 3), (_sightings, 2), (_orders, 1), (_levels, 1)):
        owners = np.repeat(np.arange(rows), rng.binomial(most, 0.7, rows))
        remarks = make(rng, canal, len(owners))
        np.add.at(logit, owners, remarks.effects)
        for owner, sentence in zip(owners, remarks.sentences, strict=True):
            bodies[owner].append(sentence)
    locks, closings = rng.integers(1, 45, rows), rng.choice(CLOSINGS, rows)
    quotes = _quotes(rng, canal, rng.random(rows) < quoting)
    texts = []
    for number, body in enumerate(bodies):
        rng.shuffle(body)
        start = HEADERS[header[number]].format(canal.words["keeper"][keeper[number]], locks[number])
        texts.append(" ".join([start, *body, closings[number]]) + quotes[number])
    return texts, logit


def _observations(rng: np.random.Generator, canal: Canal, count: int) -> Remarks:
    """The brelatuk is badly cracked: how the name begins and ends counts, and the graded condition."""
    kinds = ("beginning", "middle", "end", "condition")
    picks = {kind: rng.integers(0, len(canal.words[kind]), count) for kind in kinds}
    first, middle, last, state = (canal.words[kind][picks[kind]] for kind in kinds)
    modifier = rng.choice(len(MODIFIERS), count, p=list(MODIFIERS.values()))
    article, verb = rng.choice(["The", "Our", "That"], count), rng.choice(["is", "looks", "was", "seems"], count)
    columns = zip(article, first, middle, last, verb, np.array(list(MODIFIERS))[modifier], state, strict=True)
    effects = canal.effects["condition"][picks["condition"]] * canal.grades[modifier, None]
    effects += canal.effects["beginning"][picks["beginning"]] + canal.effects["end"][picks["end"]]
    return Remarks([f"{a} {b}{m}{e} {v} {grade}{s}." for a, b, m, e, v, grade, s in columns], effects)


def _sightings(rng: np.random.Generator, canal: Canal, count: int) -> Remarks:
    """Seen from the weir: the place alone counts."""
    place = rng.integers(0, len(canal.words["place"]), count)
    forms = rng.choice(["Seen from the {}.", "This concerns the {}.", "Look by the {}."], count)
    sentences = [form.format(name) for form, name in zip(forms, canal.words["place"][place], strict=True)]
    return Remarks(sentences, canal.effects["place"][place])


def _orders(rng: np.random.Generator, canal: Canal, count: int) -> Remarks:
    """Noted rain before fog: which of two events came first counts, however it is said."""
    events = canal.words["event"]
    first = rng.integers(0, len(events), count)
    second = (first + rng.integers(1, len(events), count)) % len(events)
    columns = zip(rng.choice(ORDERS, count), events[first], events[second], strict=True)
    return Remarks([f"Noted {form.format(a, b)}." for form, a, b in columns], canal.effects["order"][first, second])


def _levels(rng: np.random.Generator, canal: Canal, count: int) -> Remarks:
    """Gauge at 3.42: each desk has the levels that concern it."""
    level = rng.uniform(0, 6, count).round(2)
    forms = rng.choice(["Gauge at {:.2f}.", "Water stands {:.2f} high.", "Level {:.2f} this morning."], count)
    return Remarks([form.format(value) for form, value in zip(forms, level, strict=True)], draw_waves(rng, level / 4))


def _quotes(rng: np.random.Generator, canal: Canal, wanted: np.ndarray) -> list[str]:
    """Return quotations from earlier notes, which look like the rest and mean nothing."""
    old = [make(rng, canal, len(wanted)).sentences for make in (_observations, _observations, _orders)]
    lines = [f"\n> {' '.join(sentences)}" for sentences in zip(*old, strict=True)]
    return [line if quoted else "" for line, quoted in zip(lines, wanted, strict=True)]


def misspell(rng: np.random.Generator, texts: list[str], share: float) -> list[str]:
    """Swaps two neighbouring letters inside some of the longer words."""
    words = " \0 ".join(texts).split(" ")
    for place in np.flatnonzero(rng.random(len(words)) < share):
        word = words[place]
        if len(word) >= 6 and word[:-1].isalpha():
            at = 1 + int(rng.integers(len(word) - 4))
            words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words).split(" \0 ")
