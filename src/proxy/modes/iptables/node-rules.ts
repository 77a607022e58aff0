// What every node has, whatever its services: masquerading, forwarding, canaries, and the jumps that lead to us.
import { isLoopback, parseAddress } from '../../../ip/address.ts';
import { type DispatchList, dispatchLists, type Tails } from './dispatch.ts';
import { hostRange, loopbackRange, type RuleContext } from './layout.ts';
import { chainNames } from './names.ts';
import type { Chain, ForeignRule, Rule, Table, Target } from './rules.ts';

/** A reply that conntrack cannot place would leave with the endpoint's own address and make the client reset (IPT-07). */
export const dropInvalid: Rule = {
  connection: { states: ['INVALID'] },
  target: { kind: 'drop' },
};

/**
 * Connections to node ports on 127.0.0.1 (IPT-13). Upstream counts them where they are taken, with a second rule for each
 * node port; here they pass one by one, because all of them are masqueraded.
 */
export const countLoopback: Rule = {
  comment: 'kubernetes node ports reached on the loopback',
  connection: { states: ['DNAT'], original: { range: loopbackRange.IPv4 } },
  target: { kind: 'count' },
};

export function nodeChains({ node, settings, layout }: RuleContext): readonly Chain[] {
  const bit = node.masqueradeMark;
  const markMasquerade: Rule = { target: { kind: 'mark', bit, action: 'set' } };
  const hairpin = (target: Target): readonly Rule[] =>
    layout.endpoints === 'inline'
      ? [{ connection: { states: ['DNAT'] }, hasSameEnds: true, target }]
      : [];
  const canary = (table: Table): Chain => ({ table, name: chainNames.canary, rules: [] });
  return [
    { table: 'nat', name: chainNames.markMasquerade, rules: [markMasquerade] },
    {
      table: 'nat',
      name: chainNames.postrouting,
      rules: [
        ...hairpin(jumpTo(chainNames.markMasquerade)),
        { mark: { bit, isNot: true }, target: { kind: 'return' } },
        ...(answersOnLoopback(node, settings) ? [countLoopback] : []),
        // Masquerading is decided once: a packet that comes by again (through a tunnel) must not be taken for new.
        { target: { kind: 'mark', bit, action: 'flip' } },
        {
          comment: 'kubernetes service traffic requiring SNAT',
          target: { kind: 'masquerade' },
        },
      ],
    },
    {
      table: 'filter',
      name: chainNames.forward,
      rules: [
        ...(settings.dropsInvalid ? [dropInvalid] : []),
        ...hairpin({ kind: 'accept' }),
        {
          comment: 'kubernetes forwarding rules',
          mark: { bit },
          target: { kind: 'accept' },
        },
        {
          comment: 'kubernetes forwarding conntrack rule',
          connection: { states: ['RELATED', 'ESTABLISHED'] },
          target: { kind: 'accept' },
        },
      ],
    },
    canary('mangle'),
    canary('nat'),
    canary('filter'),
  ];
}

/** Node ports come after all addresses of services: an address that a service has goes first. */
export function nodePortTails(context: RuleContext): Tails {
  const to = (chain: string): readonly Rule[] => nodePortRules(context, jumpTo(chain));
  return new Map<DispatchList, readonly Rule[]>([
    [dispatchLists.services, to(chainNames.nodePorts)],
    [dispatchLists.refusedExternals, to(chainNames.closedPorts)],
  ]);
}

/** Node ports answer on the configured local addresses only, on loopback where allowed (KPX-30, KPX-31, IPT-09). */
function nodePortRules({ node, settings }: RuleContext, target: Target): readonly Rule[] {
  const { family, nodePortAddresses } = node;
  const isOnLoopback = answersOnLoopback(node, settings);
  if (nodePortAddresses === 'all') {
    const comment = 'kubernetes service nodeports; NOTE: this must be the last rule in this chain';
    const elsewhere = { range: loopbackRange[family], isNot: true } as const;
    return [
      {
        ...(isOnLoopback ? {} : { destination: elsewhere }),
        comment,
        local: 'destination',
        target,
      },
    ];
  }
  return nodePortAddresses
    .filter((ip) => isOnLoopback || !isLoopbackText(ip))
    .map((ip) => ({
      destination: { range: hostRange(ip) },
      comment: 'kubernetes service nodeports',
      target,
    }));
}

/** ::1 cannot be routed, so nothing that is sent from there can be sent elsewhere. */
function answersOnLoopback(
  { family }: RuleContext['node'],
  settings: RuleContext['settings'],
): boolean {
  return family === 'IPv4' && settings.answersOnLoopback;
}

function isLoopbackText(ip: string): boolean {
  const address = parseAddress(ip);
  return address !== undefined && isLoopback(address);
}

/** In the order in which they stand at the top of each chain. */
export function builtInJumps(): readonly ForeignRule[] {
  const jump = (table: Table, chain: string, rule: Rule): ForeignRule => ({ table, chain, rule });
  const firewall = newTo(chainNames.proxyFirewall, 'kubernetes load balancer firewall');
  const portals = newTo(chainNames.services, 'kubernetes service portals');
  const externals = newTo(
    chainNames.externalServices,
    'kubernetes externally-visible service portals',
  );
  const healthChecks: Rule = {
    comment: 'kubernetes health check service ports',
    target: jumpTo(chainNames.nodePorts),
  };
  const forward: Rule = {
    comment: 'kubernetes forwarding rules',
    target: jumpTo(chainNames.forward),
  };
  const services: Rule = {
    comment: 'kubernetes service portals',
    target: jumpTo(chainNames.services),
  };
  const postrouting: Rule = {
    comment: 'kubernetes postrouting rules',
    target: jumpTo(chainNames.postrouting),
  };
  return [
    jump('filter', 'INPUT', firewall),
    jump('filter', 'INPUT', healthChecks),
    jump('filter', 'INPUT', externals),
    jump('filter', 'FORWARD', firewall),
    jump('filter', 'FORWARD', forward),
    jump('filter', 'FORWARD', portals),
    jump('filter', 'FORWARD', externals),
    jump('filter', 'OUTPUT', firewall),
    jump('filter', 'OUTPUT', portals),
    // Upstream lets a node's own packets to an external address without endpoints go astray; we refuse them as well.
    jump('filter', 'OUTPUT', externals),
    jump('nat', 'PREROUTING', services),
    jump('nat', 'OUTPUT', services),
    jump('nat', 'POSTROUTING', postrouting),
  ];
}

/**
 * With route_localnet, packets for 127.0.0.0/8 are taken from the wire too: drop what does not come from here and was not
 * sent here by us (IPT-09). The chain is kubelet's as well.
 */
export function loopbackGuard({ node, settings }: RuleContext): readonly ForeignRule[] {
  if (!answersOnLoopback(node, settings)) return [];
  const range = loopbackRange.IPv4;
  return [
    {
      table: 'filter',
      chain: chainNames.firewall,
      rule: {
        source: { range, isNot: true },
        destination: { range },
        comment: loopbackGuardComment,
        connection: { states: ['RELATED', 'ESTABLISHED', 'DNAT'], isNot: true },
        target: { kind: 'drop' },
      },
    },
  ];
}

/** By this our rules in chains of others are known. */
export const loopbackGuardComment = 'block incoming localnet connections';

/** What leads to the shared chain, which may be there already. */
export function loopbackGuardJumps(context: RuleContext): readonly ForeignRule[] {
  if (loopbackGuard(context).length === 0) return [];
  const rule: Rule = { comment: loopbackGuardComment, target: jumpTo(chainNames.firewall) };
  return [
    { table: 'filter', chain: 'INPUT', rule },
    { table: 'filter', chain: 'OUTPUT', rule },
  ];
}

function newTo(chain: string, comment: string): Rule {
  return { comment, connection: { states: ['NEW'] }, target: jumpTo(chain) };
}

function jumpTo(chain: string): Target {
  return { kind: 'jump', chain };
}
