// Colours of text for people.
import type { World } from '../../flags/command.ts';

export type Paint = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Select graphic rendition: how to start and how to end. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Changes nothing. */
export const plainPaint = createPaint(false);

/** Colours at a terminal only; NO_COLOR (https://no-color.org) and a terminal that is `dumb` switch them off. */
export function paintFor({ terminal, env }: Pick<World, 'terminal' | 'env'>): Paint {
  const isRefused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  return createPaint(terminal !== undefined && !isRefused);
}

function createPaint(isColored: boolean): Paint {
  const entries = Object.entries(codes).map(([name, [start, end]]) => [
    name,
    isColored ? (text: string) => `\u001b[${start}m${text}\u001b[${end}m` : unchanged,
  ]);
  return Object.fromEntries(entries) as Paint;
}

function unchanged(text: string): string {
  return text;
}
