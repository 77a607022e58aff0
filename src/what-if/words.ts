// Numbers and lists in sentences.

/** More names than this are counted. */
const maxNames = 3;

export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

export function namesText(names: readonly string[], max = maxNames): string {
  const shown = names.slice(0, max);
  const hidden = names.length - shown.length;
  return hidden > 0 ? `${shown.join(', ')} and ${hidden} more` : shown.join(', ');
}
