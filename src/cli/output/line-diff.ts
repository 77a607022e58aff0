// What changes from one text to another, line by line, as diff -u shows it.

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** Lines around a change. */
const context = 2;
/** Longer texts are shown as replaced as a whole: the time of a comparison grows with the product of their lengths. */
const maxLines = 2000;

export function lineDiff(before: string, after: string): readonly string[] {
  const lines = comparedLines(before.trimEnd().split('\n'), after.trimEnd().split('\n'));
  const near = lines.map((_line, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== ' '),
  );
  return lines.flatMap(({ sign, text }, at) => {
    if (near[at] === true) return [`${sign} ${text}`];
    // One mark for each part that is left out.
    return near[at - 1] === true && near.includes(true, at) ? ['  ...'] : [];
  });
}

function comparedLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ sign: '-', text });
  const added = (text: string): Line => ({ sign: '+', text });
  if (before.length > maxLines || after.length > maxLines) {
    return [...before.map(removed), ...after.map(added)];
  }
  const lengths = commonLengths(before, after);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, young] = [before[i], after[j]];
    if (old !== undefined && old === young) {
      lines.push({ sign: ' ', text: old });
      [i, j] = [i + 1, j + 1];
    } else if (
      old !== undefined &&
      (young === undefined || (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))
    ) {
      lines.push(removed(old));
      i += 1;
    } else {
      lines.push(added(young ?? ''));
      j += 1;
    }
  }
  return lines;
}

/** Of the longest common subsequence of the rest from each pair of lines on. */
function commonLengths(
  before: readonly string[],
  after: readonly string[],
): readonly Uint16Array[] {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const [row, next] = [rows[i], rows[i + 1]];
    if (row === undefined || next === undefined) continue;
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] =
        before[i] === after[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}
