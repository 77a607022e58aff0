// Values of flags, each with an error that says what would be right.
import { InvalidArgumentError } from 'commander';
import { parseAddress } from '../ip/address.ts';
import { type Cidr, parseCidr } from '../ip/cidr.ts';
import { type PortRange, parsePortRange } from '../ip/port-range.ts';
import { type LogLevel, logLevels } from '../observe/log.ts';

export function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65535) return value;
  throw new InvalidArgumentError(
    `"${text}" is not a port; it must be a number from 0 to 65535, where 0 picks a free one.`,
  );
}

export function ipAddress(text: string): string {
  if (parseAddress(text) !== undefined) return text;
  throw new InvalidArgumentError(
    `"${text}" is not an IP address; it must be one like 127.0.0.1 or ::1.`,
  );
}

/** One range, or two of different families; the first gives services their primary address. */
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
  }
  return ranges;
}

export function portRange(text: string): PortRange {
  const range = parsePortRange(text);
  if (range !== undefined) return range;
  throw new InvalidArgumentError(`"${text}" is not a port range; it must be one like 30000-32767.`);
}

export function logLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (level !== undefined) return level;
  throw new InvalidArgumentError(
    `"${text}" is not a level; it must be one of ${logLevels.join(', ')}.`,
  );
}
