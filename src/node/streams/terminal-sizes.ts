// The sizes of a person's window, as they come on the resize stream: JSON objects one after the other, however they are cut.

export type WindowSize = { readonly columns: number; readonly rows: number };

/** An object is some thirty characters; what grows beyond this is none. */
const longest = 1024;
const largest = 65_535;

/** Takes text as it comes, gives the sizes that it completes. What is no size is passed over. */
export function createSizeReader(): (text: string) => readonly WindowSize[] {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split('}');
    rest = (parts.pop() ?? '').slice(-longest);
    return parts.flatMap((part) => parseSize(`${part.slice(-longest)}}`));
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
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= largest;
