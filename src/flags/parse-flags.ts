// Parsers of flag values; their errors say what would be right.
import { InvalidArgumentError } from 'commander';
import { parseAddress } from '../ip/address.ts';
import { addressCount, type Cidr, parseCidr } from '../ip/cidr.ts';
import { type PortRange, parsePortRange } from '../ip/port-range.ts';
import { type LogLevel, logLevels } from '../observe/log.ts';

export function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65535) return value;
  throw new InvalidArgumentError(
    `"${text}" is not a port; it must be a number from 0 to 65535, where 0 selects a free one.`,
  );
}

export function ipAddress(text: string): string {
  if (parseAddress(text) !== undefined) return text;
  throw new InvalidArgumentError(
    `"${text}" is not an IP address; it must be one like 127.0.0.1 or ::1.`,
  );
}

/** As upstream: the kubernetes Service and cluster DNS need addresses. */
const minAddresses = 8n;

/** One CIDR, or two of different families; the first is the primary one. */
export function serviceRanges(text: string): readonly Cidr[] {
  const ranges = text.split(',').map((part) => {
    const cidr = parseCidr(part.trim());
    if (cidr === undefined) {
      throw new InvalidArgumentError(
        `"${part}" is not a network; it must be one like 10.96.0.0/16 or fd00:96::/108.`,
      );
    }
    return cidr;
  });
  if (ranges.length > 2)
    throw new InvalidArgumentError('at most two ranges, one for each address family.');
  if (ranges.length === 2 && ranges[0]?.family === ranges[1]?.family) {
    throw new InvalidArgumentError(
      'two ranges must be of different families, like 10.96.0.0/16,fd00:96::/108.',
    );
  }
  for (const range of ranges) {
    if (range.family === 'IPv6' && range.prefix < 64) {
      throw new InvalidArgumentError('an IPv6 service range must be /64 or smaller.');
    }
    if (addressCount(range) < minAddresses) {
      throw new InvalidArgumentError(
        `a service range must have at least ${minAddresses} addresses.`,
      );
    }
  }
  return ranges;
}

export function portRange(text: string): PortRange {
  const range = parsePortRange(text);
  if (range !== undefined) return range;
  throw new InvalidArgumentError(`"${text}" is not a port range; it must be one like 30000-32767.`);
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

/** A duration in whole seconds: `90s`, `10m`, `1h30m`, `7d`. */
export function seconds(text: string): number {
  const parts = [...text.matchAll(/(\d+)([smhd])/gy)];
  const total = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit] ?? 0),
    0,
  );
  const isWhole = parts.map(([part]) => part).join('') === text;
  if (isWhole && total > 0 && Number.isSafeInteger(total)) return total;
  throw new InvalidArgumentError(
    `"${text}" is not a duration; it must be one like 10m, 1h30m or 7d.`,
  );
}

/** For flags that may be repeated. */
export function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function days(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= 3650) return value;
  throw new InvalidArgumentError(`"${text}" is not a number of days from 1 to 3650.`);
}

export function logLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (level !== undefined) return level;
  throw new InvalidArgumentError(
    `"${text}" is not a level; it must be one of ${logLevels.join(', ')}.`,
  );
}
