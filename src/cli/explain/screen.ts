// How much fits.
import type { Terminal, World } from '../../flags/command.ts';

/** Of a pipe: what a reader takes in at once. */
const defaultScreen: Terminal = { columns: 160, rows: 50 };

export const screenOf = ({ terminal }: Pick<World, 'terminal'>): Terminal =>
  terminal ?? defaultScreen;
