// Port ranges as in flags: `30000-32767`, `30000+2767`, `30000`.

export type PortRange = { readonly first: number; readonly last: number };

const highestPort = 65535;

export function parsePortRange(text: string): PortRange | undefined {
  const match = /^([0-9]{1,5})(?:([-+])([0-9]{1,5}))?$/.exec(text.trim());
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = lastPort(first, match[2], Number(match[3] ?? 0));
  return first > last || last > highestPort ? undefined : { first, last };
}

/** After a plus: the number of further ports, limited to the highest port, as upstream. */
function lastPort(first: number, sign: string | undefined, second: number): number {
  if (sign === undefined) return first;
  return sign === '-' ? second : Math.max(first, Math.min(first + second, highestPort));
}

export function containsPort(range: PortRange, port: number): boolean {
  return port >= range.first && port <= range.last;
}

export function portCount(range: PortRange): number {
  return range.last - range.first + 1;
}

export function formatPortRange(range: PortRange): string {
  return `${range.first}-${range.last}`;
}
