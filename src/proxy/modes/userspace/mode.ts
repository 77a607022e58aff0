// The mode of the first Kubernetes releases: connections are carried by this process.
import type { Family } from '../../model/state.ts';
import type { Mode, ProbeResult } from '../mode.ts';
import { startRelays, startUserspace } from './apply.ts';
import { startDirect } from './apply-direct.ts';
import { description } from './description.ts';
import { probeDirect } from './probe.ts';
import { readSettings } from './settings.ts';
import { tracePacketUserspace } from './trace-packet.ts';

/** Over the first carrier that works here; where none does, relays listen on the addresses of Services themselves. */
export function userspaceOver(carriers: readonly [Mode, ...Mode[]]): Mode {
  return {
    ...description,
    metrics: rulesMetrics(carriers),
    async probe(family): Promise<ProbeResult> {
      const { carrier, refusals } = await findCarrier(carriers, family);
      if (carrier !== undefined) {
        return { works: true, detail: `brought to relays by ${carrier.name}` };
      }
      const direct = await probeDirect();
      if (direct.works) return direct;
      const all = [...refusals, direct];
      return { works: false, reason: reasons(all), remedy: remedies(all) };
    },
    async start(options, signal) {
      const { carrier, refusals } = await findCarrier(carriers, options.family);
      if (carrier !== undefined) return startUserspace({ ...options, carrier }, signal);
      options.log.warn('No carrier works, relays listen on the addresses of Services', {
        reason: reasons(refusals),
      });
      const { limits } = readSettings(options.settings);
      return startDirect({ ...options, relays: startRelays(limits, options.log) });
    },
    carriers: carriers.map(({ name }) => name),
    // Only its carrier leaves rules behind, and those go with the carrier's mode.
    cleanup: () => Promise.resolve(),
    tracePacket: (state, met) => tracePacketUserspace(carriers[0], state, met),
    traits: { ...carriers[0].traits, relayedProtocols: ['TCP', 'UDP'] },
  };
}

/** Rules are the carrier's, and count as its own. Failures may be of the relays, and are not counted. */
function rulesMetrics(carriers: readonly Mode[]): NonNullable<Mode['metrics']> {
  const { rules, written } = Object.assign(
    {},
    ...carriers.map(({ metrics }) => metrics),
  ) as NonNullable<Mode['metrics']>;
  return { ...(rules && { rules }), ...(written && { written }) };
}

type Refusal = Extract<ProbeResult, { works: false }>;

async function findCarrier(carriers: readonly Mode[], family: Family) {
  const refusals: Refusal[] = [];
  for (const carrier of carriers) {
    const result = await carrier.probe(family);
    if (result.works) return { carrier, refusals };
    refusals.push(result);
  }
  return { refusals };
}

const reasons = (refusals: readonly Refusal[]): string =>
  refusals.map(({ reason }) => reason).join('; ');
const remedies = (refusals: readonly Refusal[]): string =>
  refusals.map(({ remedy }) => remedy).join(', or ');
