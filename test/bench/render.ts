// The result as a Markdown table, which reads well in a terminal too.
import { type Figure, reachesGoal } from './figure.ts';

const titles = [
  'row',
  'what',
  'Fairlead',
  'goal',
  'reached',
  'Kubernetes *',
  'p50 / p99',
  'CPU each',
  'bare server',
  'of the bare server',
  'CPU against it',
];

export function renderTable(figures: readonly Figure[]): string {
  const rows = [titles, ...figures.map(cells)];
  const widths = titles.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(titles), rule, ...figures.map(cells).map(line)].join('\n');
}

function cells(figure: Figure): readonly string[] {
  const { row, what, unit, value, goal, upstream = '', cpuMicros, p50, p99, ceiling } = figure;
  const reached = reachesGoal(figure);
  return [
    row,
    what,
    quantity(value, unit),
    goal === undefined ? '' : quantity(goal, unit),
    reached === undefined ? '' : reached ? 'yes' : 'no',
    upstream,
    p50 === undefined ? '' : `${short(p50)} / ${short(p99 ?? 0)} ms`,
    cpuMicros === undefined ? '' : micros(cpuMicros),
    ceiling === undefined
      ? ''
      : [
          quantity(ceiling.value, unit),
          ...(ceiling.cpuMicros ? [micros(ceiling.cpuMicros)] : []),
        ].join(', '),
    ceiling === undefined ? '' : share(unit, value, ceiling.value),
    cpuMicros === undefined || !ceiling?.cpuMicros
      ? ''
      : `${(cpuMicros / ceiling.cpuMicros).toFixed(1)}x`,
  ];
}

/** Rates as a part of the bare server's, times as a multiple. */
function share(unit: Figure['unit'], value: number, ceiling: number): string {
  return unit === '/s'
    ? `${Math.round((100 * value) / ceiling)}%`
    : `${(value / ceiling).toFixed(1)}x`;
}

function quantity(value: number, unit: Figure['unit']): string {
  return unit === '/s' ? `${Math.round(value).toLocaleString('en')}/s` : `${short(value)} ${unit}`;
}

function short(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

function micros(value: number): string {
  return value < 10_000 ? `${Math.round(value)} us` : `${(value / 1000).toFixed(1)} ms`;
}
