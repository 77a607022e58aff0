// Reads terminal sizes from the resize stream: a sequence of JSON objects, in chunks of any size.

export type WindowSize = { readonly columns: number; readonly rows: number };

/** An object has about thirty characters. */
const maxObjectLength = 1024;
const maxSize = 65_535;

/** Returns the sizes that a chunk completes; invalid ones are skipped. */
export function createSizeReader(): (text: string) => readonly WindowSize[] {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split('}');
    rest = (parts.pop() ?? '').slice(-maxObjectLength);
    return parts.flatMap((part) => parseSize(`${part.slice(-maxObjectLength)}}`));
  };
}

function parseSize(text: string): readonly WindowSize[] {
  try {
    const size = JSON.parse(text) as { readonly Width?: unknown; readonly Height?: unknown };
    const { Width: columns, Height: rows } = size;
    return isLength(columns) && isLength(rows) ? [{ columns, rows }] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

const isLength = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maxSize;
