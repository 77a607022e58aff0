// Says in lines what differs between two values, for people who wonder which field they may not change.

const mostLines = 20;

/** `-path: before` and `+path: after` for every place that differs. */
export function describeDifference(before: unknown, after: unknown): string {
  const lines = [...differences(before, after, '')];
  const shown = lines.slice(0, mostLines);
  return [...shown, ...(lines.length > shown.length ? ['...'] : [])]
    .map((l) => `  ${l}\n`)
    .join('');
}

function* differences(before: unknown, after: unknown, path: string): Generator<string> {
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      yield* differences(before[key], after[key], at);
    }
    return;
  }
  if (before === after) return;
  if (before !== undefined) yield `-${path}: ${JSON.stringify(before)}`;
  if (after !== undefined) yield `+${path}: ${JSON.stringify(after)}`;
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
