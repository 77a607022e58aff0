// Flags of this mode, by upstream's names.
import { type PortRange, parsePortRange } from '../../../ip/port-range.ts';
import type { RelayLimits } from './relays.ts';

export type UserspaceSettings = {
  readonly limits: RelayLimits;
  /** Where relays listen; absent: on any free port (USR-10). */
  readonly ports?: PortRange;
};

/** Each connection takes two descriptors, and two pipes while bytes are under way. */
const maxConnections = 50_000;
const defaultUdpIdleMs = 250;

/** Throws RangeError with what is wrong and what would be right. */
export function readSettings(settings: Readonly<Record<string, string>>): UserspaceSettings {
  const udpIdleMs = readMilliseconds(settings['udp-timeout']);
  const limits = { maxConnections, udpIdleMs };
  const range = settings['proxy-port-range'];
  if (range === undefined || range === '' || range === '0-0') return { limits };
  const ports = parsePortRange(range);
  if (ports === undefined) {
    throw new RangeError(`--proxy-port-range "${range}" must be like 40000-41000`);
  }
  return { limits, ports };
}

function readMilliseconds(text: string | undefined): number {
  if (text === undefined) return defaultUdpIdleMs;
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1000, m: 60_000 }[unit];
  if (factor === undefined || Number(number) <= 0) {
    throw new RangeError(`--udp-timeout "${text}" must be a time above zero, like 250ms`);
  }
  return Number(number) * factor;
}
