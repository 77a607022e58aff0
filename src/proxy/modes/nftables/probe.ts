// Whether this machine takes our rules: a whole table of every kind of rule, made and deleted in one transaction, which leaves nothing.
import { isProgramMissing } from '../../../host/exec.ts';
import { hasCode } from '../../../host/netlink/netlink-error.ts';
import type { Operation } from '../../../host/nftables/objects.ts';
import { openTableAccess } from '../../../host/nftables/open-table-access.ts';
import type { TableAccess } from '../../../host/nftables/table-access.ts';
import type { Family, NodeState, ServicePort } from '../../model/state.ts';
import type { ProbeResult } from '../mode.ts';
import { desiredForNode, desiredForPort } from './desired.ts';
import { diffTable } from './diff.ts';
import { tableOf } from './layout.ts';
import { createUses } from './uses.ts';

export async function probeNftables(
  family: Family,
  open: () => Promise<TableAccess> = openTableAccess,
): Promise<ProbeResult> {
  try {
    const access = await open();
    try {
      await access.apply({
        table: { ...tableOf(family), name: 'kube-proxy-probe' },
        operations: everyOperation(family),
      });
      return { works: true, detail: wayText[access.transport] };
    } finally {
      await access.close();
    }
  } catch (error) {
    return { works: false, ...explain(error) };
  }
}

const wayText = { netlink: 'rules are written over netlink', nft: 'rules are written by nft' };

function everyOperation(family: Family): readonly Operation[] {
  const node = probeNode(family);
  const ports = [probePort(family), { ...probePort(family), affinitySeconds: 1 }];
  const fragments = [desiredForNode(node), ...ports.map((port) => desiredForPort(port, node))];
  const { operations } = diffTable(undefined, fragments, createUses());
  return [...operations, { kind: 'delete-table' }];
}

/** Addresses kept for documentation: no packet has them. */
const probeAddress = {
  IPv4: { cluster: '192.0.2.1', external: '192.0.2.2', pod: '192.0.2.3', range: '192.0.2.0/24' },
  IPv6: {
    cluster: '2001:db8::1',
    external: '2001:db8::2',
    pod: '2001:db8::3',
    range: '2001:db8::/32',
  },
} as const;

function probeNode(family: Family): NodeState {
  return {
    family,
    nodeName: 'probe',
    nodeIPs: [],
    nodePortAddresses: 'all',
    localTraffic: { kind: 'interface', name: 'probe' },
    masqueradeAll: false,
    masqueradeMark: 0x4000,
    serviceCIDRs: [probeAddress[family].range],
  };
}

function probePort(family: Family): ServicePort {
  const { cluster, external, pod, range } = probeAddress[family];
  const endpoints = [80, 81].map((port) => ({ ip: pod, port, isLocal: true }));
  return {
    key: 'probe/probe:/TCP',
    namespace: 'probe',
    name: 'probe',
    portName: '',
    protocol: 'TCP',
    port: 80,
    clusterIP: cluster,
    nodePort: 80,
    externalIPs: [],
    loadBalancerIPs: [external],
    sourceRanges: [range],
    allowsBalancerItself: false,
    internalPolicy: 'Cluster',
    externalPolicy: 'Local',
    clusterEndpoints: endpoints,
    localEndpoints: endpoints,
    hasEndpoints: true,
  };
}

function explain(error: unknown): { readonly reason: string; readonly remedy: string } {
  const reason = error instanceof Error ? error.message : String(error);
  if (isProgramMissing(error)) {
    return {
      reason: 'netlink cannot be reached through koffi, and the nft program is not installed',
      remedy: 'install the package nftables (1.0.1 or later)',
    };
  }
  if (hasCode(error, 'EPERM', 'EACCES') || reason.includes('Operation not permitted')) {
    return {
      reason: 'this process may not change packet rules',
      remedy: 'run it as root or with the capability CAP_NET_ADMIN',
    };
  }
  return {
    reason,
    remedy:
      'use a kernel of version 5.13 or later with nf_tables, nft_nat, nft_masq, nft_fib, nft_numgen and nft_reject',
  };
}
