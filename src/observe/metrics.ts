// Counters, gauges and histograms in Prometheus' text format. Small on purpose: what a scrape costs is one string.

export type Labels = Readonly<Record<string, string>>;

/** One number of a metric. Whoever counts on a busy path keeps it and writes `value` itself. */
export type Tally = { value: number };
export type Observer = (value: number) => void;

export type Counter = {
  readonly add: (labels?: Labels, by?: number) => void;
  readonly tally: (labels: Labels) => Tally;
};
export type Gauge = {
  readonly add: (labels: Labels, by: number) => void;
  readonly set: (labels: Labels, value: number) => void;
  readonly tally: (labels: Labels) => Tally;
  /** Forgets all values. */
  readonly clear: () => void;
};
export type Histogram = {
  readonly observe: (labels: Labels, value: number) => void;
  /** The same for one set of labels. */
  readonly observer: (labels: Labels) => Observer;
};

export type MetricFacts = { readonly name: string; readonly help: string };

export type Sample = { readonly labels: Labels; readonly value: number };

/** Asking for a metric that is there gives the same one: who starts again goes on counting. */
export type MetricsRegistry = {
  readonly counter: (facts: MetricFacts) => Counter;
  readonly gauge: (facts: MetricFacts) => Gauge;
  /** A gauge whose value, or values by label, are read when it is scraped. */
  readonly gaugeFrom: (facts: MetricFacts, read: () => number | readonly Sample[]) => void;
  /** A counter whose value is read when it is scraped. */
  readonly counterFrom: (facts: MetricFacts, read: () => number) => void;
  readonly histogram: (facts: MetricFacts & { readonly buckets: readonly number[] }) => Histogram;
  readonly text: () => string;
};

type Metric = {
  readonly facts: MetricFacts;
  readonly type: string;
  readonly lines: () => readonly string[];
};

export function createMetrics(): MetricsRegistry {
  const metrics = new Map<string, Metric>();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  const known = <T>(made: Map<string, T>, name: string, make: () => T): T => {
    const before = made.get(name);
    if (before !== undefined) return before;
    if (metrics.has(name)) throw new Error(`Cannot measure "${name}": it is of another type`);
    const metric = make();
    made.set(name, metric);
    return metric;
  };
  return {
    counter: (facts) =>
      known(counters, facts.name, () => {
        const values = new Map<string, Tally>();
        const lines = (): readonly string[] => valueLines(facts.name, values);
        metrics.set(facts.name, { facts, type: 'counter', lines });
        return {
          add: (labels = {}, by = 1) => {
            tallyOf(values, labels).value += by;
          },
          tally: (labels) => tallyOf(values, labels),
        };
      }),
    gauge: (facts) =>
      known(gauges, facts.name, () => {
        const values = new Map<string, Tally>();
        const lines = (): readonly string[] => valueLines(facts.name, values);
        metrics.set(facts.name, { facts, type: 'gauge', lines });
        return {
          add: (labels, by) => {
            tallyOf(values, labels).value += by;
          },
          set: (labels, value) => {
            tallyOf(values, labels).value = value;
          },
          tally: (labels) => tallyOf(values, labels),
          clear: () => values.clear(),
        };
      }),
    gaugeFrom: (facts, read) => {
      const lines = (): readonly string[] => readLines(facts.name, read());
      metrics.set(facts.name, { facts, type: 'gauge', lines });
    },
    counterFrom: (facts, read) => {
      const lines = (): readonly string[] => readLines(facts.name, read());
      metrics.set(facts.name, { facts, type: 'counter', lines });
    },
    histogram: (facts) =>
      known(histograms, facts.name, () => {
        const series = new Map<string, Series>();
        const lines = (): readonly string[] => histogramLines(facts.name, facts.buckets, series);
        metrics.set(facts.name, { facts, type: 'histogram', lines });
        return {
          observe: (labels, value) =>
            observe(seriesOf(series, facts.buckets, labels), facts.buckets, value),
          observer: (labels) => {
            const one = seriesOf(series, facts.buckets, labels);
            return (value) => observe(one, facts.buckets, value);
          },
        };
      }),
    text: () => [...metrics.values()].flatMap(describe).join('\n').concat('\n'),
  };
}

function readLines(name: string, read: number | readonly Sample[]): readonly string[] {
  const samples = typeof read === 'number' ? [{ labels: {}, value: read }] : read;
  return valueLines(
    name,
    new Map(samples.map(({ labels, value }) => [labelText(labels), { value }])),
  );
}

function describe({ facts, type, lines }: Metric): readonly string[] {
  return [`# HELP ${facts.name} ${facts.help}`, `# TYPE ${facts.name} ${type}`, ...lines()];
}

function tallyOf(values: Map<string, Tally>, labels: Labels): Tally {
  const key = labelText(labels);
  let tally = values.get(key);
  if (tally === undefined) {
    tally = { value: 0 };
    values.set(key, tally);
  }
  return tally;
}

const texts = new WeakMap<Labels, string>();

/** Whoever counts often keeps its labels, and their text is made once. */
function labelText(labels: Labels): string {
  let text = texts.get(labels);
  if (text === undefined) {
    text = writeLabels(labels);
    texts.set(labels, text);
  }
  return text;
}

function writeLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
    )
    .join(',');
}

function valueLines(name: string, values: ReadonlyMap<string, Tally>): readonly string[] {
  return [...values].map(
    ([labels, { value }]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`,
  );
}

type Series = { readonly counts: number[]; sum: number; count: number };

function seriesOf(series: Map<string, Series>, buckets: readonly number[], labels: Labels): Series {
  const key = labelText(labels);
  let one = series.get(key);
  if (one === undefined) {
    one = { counts: buckets.map(() => 0), sum: 0, count: 0 };
    series.set(key, one);
  }
  return one;
}

function observe(one: Series, buckets: readonly number[], value: number): void {
  let at = 0;
  while (at < buckets.length && value > (buckets[at] ?? 0)) at += 1;
  if (at < buckets.length) one.counts[at] = (one.counts[at] ?? 0) + 1;
  one.sum += value;
  one.count += 1;
}

function histogramLines(
  name: string,
  buckets: readonly number[],
  series: ReadonlyMap<string, Series>,
): readonly string[] {
  return [...series].flatMap(([labels, { counts, sum, count }]) => {
    const prefix = labels === '' ? '' : `${labels},`;
    let total = 0;
    const lines = buckets.map((limit, i) => {
      total += counts[i] ?? 0;
      return `${name}_bucket{${prefix}le="${limit}"} ${total}`;
    });
    const suffix = labels === '' ? '' : `{${labels}}`;
    return [
      ...lines,
      `${name}_bucket{${prefix}le="+Inf"} ${count}`,
      `${name}_sum${suffix} ${sum}`,
      `${name}_count${suffix} ${count}`,
    ];
  });
}
