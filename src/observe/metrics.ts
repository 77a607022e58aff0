// Counters, gauges and histograms in Prometheus' text format. Small on purpose: what a scrape costs is one string.

export type Labels = Readonly<Record<string, string>>;

export type Counter = { readonly add: (labels?: Labels, by?: number) => void };
export type Gauge = {
  readonly add: (labels: Labels, by: number) => void;
  readonly set: (labels: Labels, value: number) => void;
};
export type Histogram = { readonly observe: (labels: Labels, value: number) => void };

export type MetricFacts = { readonly name: string; readonly help: string };

export type MetricsRegistry = {
  readonly counter: (facts: MetricFacts) => Counter;
  readonly gauge: (facts: MetricFacts) => Gauge;
  /** A gauge whose value is read when it is scraped. */
  readonly gaugeFrom: (facts: MetricFacts, read: () => number) => void;
  readonly histogram: (facts: MetricFacts & { readonly buckets: readonly number[] }) => Histogram;
  readonly text: () => string;
};

type Metric = {
  readonly facts: MetricFacts;
  readonly type: string;
  readonly lines: () => readonly string[];
};

export function createMetrics(): MetricsRegistry {
  const metrics: Metric[] = [];
  return {
    counter: (facts) => {
      const values = new Map<string, number>();
      metrics.push({ facts, type: 'counter', lines: () => valueLines(facts.name, values) });
      return { add: (labels = {}, by = 1) => bump(values, labels, by) };
    },
    gauge: (facts) => {
      const values = new Map<string, number>();
      metrics.push({ facts, type: 'gauge', lines: () => valueLines(facts.name, values) });
      return {
        add: (labels, by) => bump(values, labels, by),
        set: (labels, value) => values.set(labelText(labels), value),
      };
    },
    gaugeFrom: (facts, read) => {
      metrics.push({ facts, type: 'gauge', lines: () => [`${facts.name} ${read()}`] });
    },
    histogram: (facts) => {
      const series = new Map<string, Series>();
      metrics.push({
        facts,
        type: 'histogram',
        lines: () => histogramLines(facts.name, facts.buckets, series),
      });
      return { observe: (labels, value) => observe(series, facts.buckets, labels, value) };
    },
    text: () => metrics.flatMap(describe).join('\n').concat('\n'),
  };
}

function describe({ facts, type, lines }: Metric): readonly string[] {
  return [`# HELP ${facts.name} ${facts.help}`, `# TYPE ${facts.name} ${type}`, ...lines()];
}

function bump(values: Map<string, number>, labels: Labels, by: number): void {
  const key = labelText(labels);
  values.set(key, (values.get(key) ?? 0) + by);
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

function valueLines(name: string, values: ReadonlyMap<string, number>): readonly string[] {
  return [...values].map(
    ([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`,
  );
}

type Series = { readonly counts: number[]; sum: number; count: number };

function observe(
  series: Map<string, Series>,
  buckets: readonly number[],
  labels: Labels,
  value: number,
): void {
  const key = labelText(labels);
  let one = series.get(key);
  if (one === undefined) {
    one = { counts: buckets.map(() => 0), sum: 0, count: 0 };
    series.set(key, one);
  }
  const at = buckets.findIndex((limit) => value <= limit);
  if (at >= 0) one.counts[at] = (one.counts[at] ?? 0) + 1;
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
