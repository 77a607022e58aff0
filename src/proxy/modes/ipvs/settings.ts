// The flags of this mode, read.
import { type Cidr, parseCidr } from '../../../ip/cidr.ts';

/** Those of the kernel that kube-proxy takes (IVS-03). */
export const schedulers: readonly string[] = [
  ...['rr', 'wrr', 'lc', 'wlc', 'lblc', 'lblcr', 'sh', 'dh', 'sed', 'nq', 'mh'],
];

export type IpvsSettings = {
  readonly scheduler: string;
  /** Virtual servers of other programs, which are left alone. */
  readonly excludeCIDRs: readonly Cidr[];
  readonly isStrictARP: boolean;
  /** 0 leaves the kernel's. */
  readonly tcpTimeoutSeconds: number;
  readonly tcpFinTimeoutSeconds: number;
  readonly udpTimeoutSeconds: number;
};

/** By upstream's flag name. Throws RangeError with what is wrong and what would be right. */
export function readSettings(settings: Readonly<Record<string, string>>): IpvsSettings {
  const scheduler = settings['ipvs-scheduler'] || 'rr';
  if (!schedulers.includes(scheduler)) {
    throw new RangeError(`--ipvs-scheduler "${scheduler}" must be one of ${schedulers.join(', ')}`);
  }
  return {
    scheduler,
    excludeCIDRs: readRanges(settings['ipvs-exclude-cidrs'] ?? ''),
    isStrictARP: settings['ipvs-strict-arp'] === 'true',
    tcpTimeoutSeconds: readSeconds('ipvs-tcp-timeout', settings),
    tcpFinTimeoutSeconds: readSeconds('ipvs-tcpfin-timeout', settings),
    udpTimeoutSeconds: readSeconds('ipvs-udp-timeout', settings),
  };
}

function readRanges(text: string): readonly Cidr[] {
  const words = text.split(',').map((word) => word.trim());
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const cidr = parseCidr(word);
      if (cidr !== undefined) return cidr;
      throw new RangeError(`--ipvs-exclude-cidrs "${word}" must be a network like 10.0.0.0/8`);
    });
}

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** The kernel counts whole seconds; what is shorter than one is one. */
function readSeconds(flag: string, settings: Readonly<Record<string, string>>): number {
  const text = settings[flag] || '0';
  if (text === '0') return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gy)];
  if (parts.map(([part]) => part).join('') !== text) {
    throw new RangeError(`--${flag} "${text}" must be a time like 900s or 15m`);
  }
  const seconds = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit] ?? 0),
    0,
  );
  return Math.ceil(seconds);
}
