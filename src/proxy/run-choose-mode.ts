// Chooses the mode: the requested one, or the first that works on this machine.
import type { Log } from '../observe/log.ts';
import type { ProxyConfig } from './config.ts';
import type { Family } from './model/state.ts';
import type { Mode, ProbeResult } from './modes/mode.ts';
import { isLoopbackOnly } from './node-view/node-addresses.ts';

export type ChosenMode = {
  readonly mode: Mode;
  /** In which families it works here, never empty. */
  readonly families: readonly Family[];
  /** The mode that was requested and does not work here, and why. */
  readonly insteadOf?: Failure;
};

type Failure = { readonly mode: string; readonly reason: string };

const describeFailure = ({ mode, reason }: Failure): string => `${mode}: ${reason}`;

/** No mode works; the message says what to grant or install. */
export class NoModeError extends Error {
  override readonly name = 'NoModeError';
}

const families = ['IPv4', 'IPv6'] as const satisfies readonly Family[];

export async function chooseMode(
  modes: readonly Mode[],
  { mode: requested, nodePortAddresses }: Pick<ProxyConfig, 'mode' | 'nodePortAddresses'>,
  log: Log,
): Promise<ChosenMode> {
  const candidates = requested === undefined ? modes : requestedModes(modes, requested);
  const failures: Failure[] = [];
  for (const mode of candidates) {
    if (isLoopbackOnly(nodePortAddresses) && !mode.traits.nodePortOnLoopback) {
      failures.push({ mode: mode.name, reason: noLoopback(modes) });
      continue;
    }
    const probes = await probeFamilies(mode);
    const works = families.filter((family) => probes[family].works);
    if (works.length > 0) {
      report(log, mode, { probes, failures });
      const chosen = { mode, families: works };
      const [first] = failures;
      // Where none is requested, those that were skipped are not worth an event.
      return requested === undefined || first === undefined
        ? chosen
        : { ...chosen, insteadOf: first };
    }
    failures.push({ mode: mode.name, reason: explain(probes.IPv4) });
  }
  const what = requested === undefined ? 'a proxy mode' : `proxy mode "${requested}"`;
  // Several reasons are easier to read with a line for each.
  const texts = failures.map(describeFailure);
  const reasons = texts.length === 1 ? ` ${texts[0]}` : texts.map((one) => `\n  ${one}`);
  throw new NoModeError(`Cannot start ${what}:${[reasons].flat().join(';')}`);
}

/** The requested mode, then its fallback. */
function requestedModes(modes: readonly Mode[], requested: string): readonly Mode[] {
  const mode = modes.find(({ name }) => name === requested);
  if (mode === undefined) {
    const known = modes.map(({ name }) => name).join(', ');
    throw new NoModeError(
      `Cannot start proxy mode "${requested}": this build has ${known || 'none'}`,
    );
  }
  return [mode, ...modes.filter(({ name }) => name === mode.fallback)];
}

/** Without another address to answer on, such a mode would open no node port (KPX-30). */
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
  /** Why modes before it were skipped. */
  readonly failures: readonly Failure[];
};

function report(log: Log, { name }: Mode, { probes, failures }: Outcome): void {
  for (const failure of failures) {
    log.warn('Proxy mode does not work on this machine', { reason: describeFailure(failure) });
  }
  log.info('Using proxy mode', { mode: name, detail: explain(probes.IPv4) });
  for (const family of families) {
    const probe = probes[family];
    if (!probe.works) log.warn('Skipping address family', { family, reason: explain(probe) });
  }
}
