// What a row of the benchmark is.
import type { Figure } from './figure.ts';

export type RowOptions = {
  /** Empty, and the row's own. */
  readonly directory: string;
};

export type Row = (options: RowOptions) => Promise<readonly Figure[]>;
