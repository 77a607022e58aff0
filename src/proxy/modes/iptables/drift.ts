// What the kernel holds for some service ports, against what they want: which endpoints their chains lead to. Comments, and how rules are
// laid out, depend on the size of the cluster, and are not compared.
import type { ProxyState, ServicePort } from '../../model/state.ts';
import type { Drift } from '../mode.ts';
import { contextOf, defaultSettings } from './layout.ts';
import { chainNames, displayName, portChainNames } from './names.ts';
import { portChains } from './port-rules.ts';
import { renderRule } from './render-rule.ts';
import { type SavedRules, targetOf } from './saved-rules.ts';

type NatChains = ReadonlyMap<string, readonly string[]>;
type Line = { readonly chain: string; readonly line: string };

/** Undefined: there are no rules of kube-proxy's kind. */
export function driftOf(saved: SavedRules, state: ProxyState): Drift | undefined {
  const nat = saved.get('nat');
  if (nat === undefined || !nat.has(chainNames.services)) return undefined;
  const drifts = [...state.ports.values()].map((port) => driftOfPort(port, state, nat));
  return {
    missing: drifts.flatMap(({ missing }) => missing),
    stale: drifts.flatMap(({ stale }) => stale),
  };
}

function driftOfPort(port: ServicePort, state: ProxyState, nat: NatChains): Drift {
  const context = contextOf(state, defaultSettings);
  const wanted = portChains(port, context).flatMap(({ name, rules }) =>
    rules.map((rule) => ({ chain: name, line: renderRule(rule, state.node.family) })),
  );
  const { cluster, local, external } = portChainNames(port);
  const found = linesBelow([cluster, local, external], nat);
  const destinationsOf = (lines: readonly Line[]) => new Set(lines.flatMap(destinationOf));
  const wantedEnds = destinationsOf(wanted);
  const foundEnds = destinationsOf(found);
  return {
    missing: [
      ...(port.hasEndpoints && !isReached(port, nat)
        ? [`a rule of ${chainNames.services} that leads to ${displayName(port)}`]
        : []),
      ...wanted.filter((one) => isElsewhere(one, foundEnds)).map(lineText),
    ],
    stale: found.filter((one) => isElsewhere(one, wantedEnds)).map(lineText),
  };
}

function destinationOf({ line }: Line): readonly string[] {
  const [, end] = /--to-destination (\S+)/.exec(line) ?? [];
  return end === undefined ? [] : [end];
}

function isElsewhere(one: Line, ends: ReadonlySet<string>): boolean {
  return destinationOf(one).some((end) => !ends.has(end));
}

const lineText = ({ chain, line }: Line): string => `-A ${chain} ${line}`;

/** Of these chains, and of those of endpoints to which they lead. */
function linesBelow(names: readonly string[], nat: NatChains): readonly Line[] {
  const seen = new Set(names);
  const lines: Line[] = [];
  for (const chain of seen) {
    for (const line of nat.get(chain) ?? []) {
      lines.push({ chain, line });
      const next = targetOf(line);
      if (next?.startsWith('KUBE-SEP-')) seen.add(next);
    }
  }
  return lines;
}

function isReached(port: ServicePort, nat: NatChains): boolean {
  const { cluster, local, external, firewall } = portChainNames(port);
  const own = new Set([cluster, local, external, firewall]);
  for (const [name, lines] of nat) {
    if (own.has(name)) continue;
    if (lines.some((line) => own.has(targetOf(line) ?? ''))) return true;
  }
  return false;
}
