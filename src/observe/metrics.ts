// Counters, gauges and histograms in Prometheus' text format. A scrape costs one string.

export type Labels = Readonly<Record<string, string>>;

/** The value of one set of labels. Hot paths hold it and change `value` directly. */
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
  /** Removes all values, with their labels. */
  readonly clear: () => void;
};
export type Histogram = {
  readonly observe: (labels: Labels, value: number) => void;
  /** The same for one set of labels. */
  readonly observer: (labels: Labels) => Observer;
};

export type MetricDescription = { readonly name: string; readonly help: string };

export type Sample = { readonly labels: Labels; readonly value: number };

/** Registering a name again returns the same metric, so that a part that restarts continues its counters. */
export type MetricsRegistry = {
  readonly counter: (description: MetricDescription) => Counter;
  readonly gauge: (description: MetricDescription) => Gauge;
  /** A gauge that is read when it is scraped: one value, or one for each set of labels. */
  readonly gaugeFrom: (
    description: MetricDescription,
    read: () => number | readonly Sample[],
  ) => void;
  /** A counter that is read when it is scraped. */
  readonly counterFrom: (description: MetricDescription, read: () => number) => void;
  readonly histogram: (
    description: MetricDescription & { readonly buckets: readonly number[] },
  ) => Histogram;
  readonly text: () => string;
};

type Metric = {
  readonly description: MetricDescription;
  readonly type: string;
  readonly lines: () => readonly string[];
};

export function createMetrics(): MetricsRegistry {
  const metrics = new Map<string, Metric>();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  const getOrCreate = <T>(existing: Map<string, T>, name: string, create: () => T): T => {
    const found = existing.get(name);
    if (found !== undefined) return found;
    if (metrics.has(name)) throw new Error(`Metric "${name}" exists, and is of another type`);
    const metric = create();
    existing.set(name, metric);
    return metric;
  };
  return {
    counter: (description) =>
      getOrCreate(counters, description.name, () => {
        const values = new Map<string, Tally>();
        const lines = (): readonly string[] => valueLines(description.name, values);
        metrics.set(description.name, { description, type: 'counter', lines });
        return {
          add: (labels = {}, by = 1) => {
            tallyOf(values, labels).value += by;
          },
          tally: (labels) => tallyOf(values, labels),
        };
      }),
    gauge: (description) =>
      getOrCreate(gauges, description.name, () => {
        const values = new Map<string, Tally>();
        const lines = (): readonly string[] => valueLines(description.name, values);
        metrics.set(description.name, { description, type: 'gauge', lines });
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
    gaugeFrom: (description, read) => {
      const lines = (): readonly string[] => readLines(description.name, read());
      metrics.set(description.name, { description, type: 'gauge', lines });
    },
    counterFrom: (description, read) => {
      const lines = (): readonly string[] => readLines(description.name, read());
      metrics.set(description.name, { description, type: 'counter', lines });
    },
    histogram: (description) =>
      getOrCreate(histograms, description.name, () => {
        const series = new Map<string, Series>();
        const lines = (): readonly string[] =>
          histogramLines(description.name, description.buckets, series);
        metrics.set(description.name, { description, type: 'histogram', lines });
        return {
          observe: (labels, value) =>
            observe(seriesOf(series, description.buckets, labels), description.buckets, value),
          observer: (labels) => {
            const one = seriesOf(series, description.buckets, labels);
            return (value) => observe(one, description.buckets, value);
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

function describe({ description, type, lines }: Metric): readonly string[] {
  return [
    `# HELP ${description.name} ${description.help}`,
    `# TYPE ${description.name} ${type}`,
    ...lines(),
  ];
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

const labelTexts = new WeakMap<Labels, string>();

/** Callers that reuse their labels object pay for its text once. */
function labelText(labels: Labels): string {
  let text = labelTexts.get(labels);
  if (text === undefined) {
    text = writeLabels(labels);
    labelTexts.set(labels, text);
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

function observe(series: Series, buckets: readonly number[], value: number): void {
  let at = 0;
  while (at < buckets.length && value > (buckets[at] ?? 0)) at += 1;
  if (at < buckets.length) series.counts[at] = (series.counts[at] ?? 0) + 1;
  series.sum += value;
  series.count += 1;
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
