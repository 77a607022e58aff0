// Picks the mode: the one asked for, or the best that works on this machine, and says why.
import type { Log } from '../observe/log.ts';
import type { ProxyConfig } from './config.ts';
import type { Family } from './model/state.ts';
import type { Mode, ModeName, ProbeResult } from './modes/mode.ts';
import { isLoopbackOnly } from './node-view/node-addresses.ts';

export type ChosenMode = {
  readonly mode: Mode;
  /** In which families it works here, never empty. */
  readonly families: readonly Family[];
  /** The mode that was asked for and does not work here, and why. */
  readonly insteadOf?: Failure;
};

type Failure = { readonly mode: ModeName; readonly reason: string };

const describeFailure = ({ mode, reason }: Failure): string => `${mode}: ${reason}`;

/** No mode works; the message says what to grant or install. */
export class NoModeError extends Error {
  override readonly name = 'NoModeError';
}

const families = ['IPv4', 'IPv6'] as const satisfies readonly Family[];

/** What stands in for a mode that the kernel lacks, as the documentation of Services promises. */
const fallbacks: Partial<Record<ModeName, ModeName>> = { ipvs: 'iptables' };

export async function chooseMode(
  modes: readonly Mode[],
  { mode: asked, nodePortAddresses }: Pick<ProxyConfig, 'mode' | 'nodePortAddresses'>,
  log: Log,
): Promise<ChosenMode> {
  const candidates = asked === undefined ? modes : askedModes(modes, asked);
  const failures: Failure[] = [];
  for (const mode of candidates) {
    if (isLoopbackOnly(nodePortAddresses) && !mode.traits.nodePortOnLoopback) {
      failures.push({ mode: mode.name, reason: noLoopback(modes) });
      continue;
    }
    const probes = await probeFamilies(mode);
    const works = families.filter((family) => probes[family].works);
    if (works.length > 0) {
      tell(log, mode, { probes, failures });
      const chosen = { mode, families: works };
      const [first] = failures;
      // Where none is asked for, the better ones are passed over without a word.
      return asked === undefined || first === undefined ? chosen : { ...chosen, insteadOf: first };
    }
    failures.push({ mode: mode.name, reason: explain(probes.IPv4) });
  }
  const what = asked === undefined ? 'a proxy mode' : `proxy mode "${asked}"`;
  // Several reasons are read more easily one a line.
  const texts = failures.map(describeFailure);
  const reasons = texts.length === 1 ? ` ${texts[0]}` : texts.map((one) => `\n  ${one}`);
  throw new NoModeError(`Cannot start ${what}:${[reasons].flat().join(';')}`);
}

function askedModes(modes: readonly Mode[], asked: ModeName): readonly Mode[] {
  const named = [asked, fallbacks[asked]];
  const found = named.flatMap((name) => modes.find((mode) => mode.name === name) ?? []);
  if (found[0]?.name === asked || found.length > 0) return found;
  const known = modes.map(({ name }) => name).join(', ');
  throw new NoModeError(`Cannot start proxy mode "${asked}": this build has ${known || 'none'}`);
}

/** With no other address to answer on, such a mode would open nothing (KPX-30). */
function noLoopback(modes: readonly Mode[]): string {
  const able = modes.filter(({ traits }) => traits.nodePortOnLoopback).map(({ name }) => name);
  return `it does not answer node ports on the loopback, the only address that --nodeport-addresses names; use ${able.join(' or ')}, or name other addresses`;
}

async function probeFamilies(mode: Mode): Promise<Record<Family, ProbeResult>> {
  const [IPv4, IPv6] = await Promise.all([mode.probe('IPv4'), mode.probe('IPv6')]);
  return { IPv4, IPv6 };
}

function explain(probe: ProbeResult): string {
  return probe.works ? probe.detail : `${probe.reason}; ${probe.remedy}`;
}

type Outcome = {
  readonly probes: Record<Family, ProbeResult>;
  /** Why better modes were passed over. */
  readonly failures: readonly Failure[];
};

function tell(log: Log, { name }: Mode, { probes, failures }: Outcome): void {
  for (const failure of failures) {
    log.warn('proxy mode does not work here', { reason: describeFailure(failure) });
  }
  log.info('chose proxy mode', { mode: name, detail: explain(probes.IPv4) });
  for (const family of families) {
    const probe = probes[family];
    if (!probe.works) log.warn('address family left out', { family, reason: explain(probe) });
  }
}
