// How far a share that was counted may be from the one behind it.
//
// The interval is the exact one of Clopper and Pearson, and not Wilson's: Wilson's covers on average what it should, but for rare events
// (one endpoint of a hundred) and the high confidence that many comparisons need it is too narrow several times over, and would name
// endpoints that have two connections by chance. The exact one never promises more than it holds, whatever the counts.
//
// A multinomial test says whether something deviates, and not which endpoint. Here each endpoint is compared for itself, and the
// confidence is divided among them (Bonferroni), so that the chance to name any of them wrongly is that of the whole.
//
// Connections of different nodes have different chances. The number of hits is then less spread than a binomial one with the mean chance
// (Hoeffding 1956), so that the interval is on the safe side.

export type Interval = { readonly low: number; readonly high: number };

/** That any endpoint of a port is named wrongly: of a thousand Services that are even, one is. */
const maxFalseAlarm = 0.001;

export type Counted = {
  readonly hits: number;
  readonly trials: number;
  /** How many such shares are compared. */
  readonly comparisons: number;
};

export function shareInterval({ hits, trials, comparisons }: Counted): Interval {
  if (trials <= 0) return { low: 0, high: 1 };
  const tail = maxFalseAlarm / (2 * Math.max(1, comparisons));
  return {
    // The chance with which so many hits, or more, are as rare as the tail.
    low: hits === 0 ? 0 : solve((chance) => incompleteBeta(chance, hits, trials - hits + 1), tail),
    high:
      hits === trials
        ? 1
        : solve((chance) => incompleteBeta(chance, hits + 1, trials - hits), 1 - tail),
  };
}

/** Enough for a share to a billionth. */
const halvings = 40;

/** Of a function that grows from 0 to 1: where it has the value. */
function solve(growing: (at: number) => number, value: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < halvings; step += 1) {
    const middle = (low + high) / 2;
    if (growing(middle) < value) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularized incomplete beta function: the chance of `a` hits or more in `a + b - 1` trials. */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges quickly on one side of the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const scale = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  return Math.min(1, (scale * betaFraction(x, a, b)) / a);
}

const maxTerms = 10_000;
const tolerance = 1e-12;
const tiny = 1e-300;

/** The continued fraction, from the front (Lentz). The number of terms grows with the root of the counts. */
function betaFraction(x: number, a: number, b: number): number {
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= maxTerms; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    const step = d * c;
    result *= step;
    if (Math.abs(step - 1) < tolerance) break;
  }
  return result;
}

/** Stirling's series, from 8 on to 12 digits; below that, by the recurrence. */
function logGamma(x: number): number {
  let shift = 0;
  let at = x;
  for (; at < 8; at += 1) shift += Math.log(at);
  const inverse = 1 / at;
  const square = inverse * inverse;
  const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)));
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
