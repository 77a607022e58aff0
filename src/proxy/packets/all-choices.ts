// Runs a function once for each combination of outcomes of its random draws.

/** Draws the number of one of the outcomes, given how likely each of them is. */
export type Choose = (chances: readonly number[]) => number;

export type Outcome<Result> = { readonly result: Result; readonly chance: number };

export function allChoices<Result>(run: (draw: Choose) => Result): readonly Outcome<Result>[] {
  const ways: Outcome<Result>[] = [];
  let next: readonly number[] | undefined = [];
  while (next !== undefined) {
    const { way, drawn } = runOnce(run, next);
    ways.push(way);
    next = following(drawn);
  }
  return ways;
}

type Drawn = { readonly outcome: number; readonly outcomes: number };

function runOnce<Result>(
  run: (draw: Choose) => Result,
  fixed: readonly number[],
): { way: Outcome<Result>; drawn: readonly Drawn[] } {
  const drawn: Drawn[] = [];
  let chance = 1;
  const result = run((chances) => {
    const outcome = fixed[drawn.length] ?? 0;
    drawn.push({ outcome, outcomes: chances.length });
    chance *= chances[outcome] ?? 0;
    return outcome;
  });
  return { way: { result, chance }, drawn };
}

/** Advances the last draw that has a next outcome; draws after it start again. */
function following(drawn: readonly Drawn[]): readonly number[] | undefined {
  const last = drawn.findLastIndex(({ outcome, outcomes }) => outcome + 1 < outcomes);
  if (last < 0) return undefined;
  return drawn.slice(0, last + 1).map(({ outcome }, at) => (at === last ? outcome + 1 : outcome));
}
