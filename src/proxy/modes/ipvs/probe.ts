// Whether this machine can run the mode: virtual servers, a dummy interface, and a table of every kind of rule. Each is made and
// removed again, under names and addresses that are not in use.
import { NativeUnavailableError } from '../../../host/native.ts';
import type { Ipvs, VirtualService } from '../../../host/netlink/ipvs.ts';
import { hasCode } from '../../../host/netlink/netlink-error.ts';
import { addLink, deleteLink, findLink } from '../../../host/netlink/route-links.ts';
import type { Family, NodeState } from '../../model/state.ts';
import type { ProbeResult } from '../mode.ts';
import { type IpvsLocation, type Kernel, openKernel } from './apply-kernel.ts';
import { contentsOf, emptyContents } from './contents.ts';
import { diff } from './diff.ts';
import { dummyInterface, tableOf } from './layout.ts';
import { newTable } from './new-table.ts';

export async function probeIpvs(family: Family, location: IpvsLocation = {}): Promise<ProbeResult> {
  let kernel: Kernel | undefined;
  try {
    // Little is asked: to start a thread takes longer.
    kernel = await openKernel(location, 'caller');
    const missing = await findMissing(kernel, family);
    if (missing.length > 0) return lacks(missing);
    return { works: true, detail: 'virtual servers are written over netlink' };
  } catch (error) {
    return explain(error);
  } finally {
    await kernel?.close();
  }
}

/** Throws where the kernel has no such scheduler. */
export async function requireScheduler(
  ipvs: Ipvs,
  family: Family,
  scheduler: string,
): Promise<void> {
  if (await hasScheduler(ipvs, family, scheduler)) return;
  throw new Error(
    `Cannot use ipvs-scheduler "${scheduler}": the kernel has no module ip_vs_${scheduler}; load it (modprobe ip_vs_${scheduler}) or use another scheduler`,
  );
}

async function findMissing({ ipvs, route, table }: Kernel, family: Family): Promise<string[]> {
  const missing: string[] = [];
  if (!(await hasScheduler(ipvs, family, 'rr'))) missing.push('ip_vs_rr');
  if ((await findLink(route, dummyInterface)) === undefined) {
    const name = `ipvs-probe-${family === 'IPv4' ? 4 : 6}`;
    try {
      await addLink(route, { name, kind: 'dummy' });
      await deleteLink(route, name);
    } catch (error) {
      if (!hasCode(error, 'EOPNOTSUPP')) throw error;
      missing.push('dummy');
    }
  }
  const probeTable = { ...tableOf(family), name: 'kube-proxy-ipvs-probe' };
  const { newChains } = diff(emptyContents, { ...contentsOf([]), choices: new Set([2]) });
  const { operations } = newTable(probeNode(family));
  await table.apply({
    table: probeTable,
    operations: [...operations, ...newChains, { kind: 'delete-table' }],
  });
  return missing;
}

/** An address kept for documentation: no packet has it. */
async function hasScheduler(ipvs: Ipvs, family: Family, scheduler: string): Promise<boolean> {
  const address = family === 'IPv4' ? '192.0.2.1' : '2001:db8::1';
  const service: VirtualService = { address, protocol: 'TCP', port: 9, scheduler };
  try {
    await ipvs.addService(service);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    // Left by one that was killed in between.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  await ipvs.deleteService(service);
  return true;
}

function probeNode(family: Family): NodeState {
  return {
    family,
    nodeName: 'probe',
    nodeIPs: [],
    nodePortAddresses: 'all',
    localTraffic: { kind: 'interface', name: 'probe' },
    masqueradeAll: false,
    masqueradeMark: 0x4000,
    serviceCIDRs: [],
  };
}

function explain(error: unknown): ProbeResult {
  if (hasCode(error, 'ENOENT')) return lacks(['ip_vs']);
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof NativeUnavailableError) {
    return { works: false, reason, remedy: 'use a build of Node.js that koffi supports' };
  }
  if (hasCode(error, 'EPERM', 'EACCES')) {
    return {
      works: false,
      reason: 'this process may not change virtual servers and packet rules',
      remedy: 'run it as root or with the capability CAP_NET_ADMIN',
    };
  }
  return {
    works: false,
    reason,
    remedy: 'use a kernel with IPVS and nf_tables, or another mode',
  };
}

function lacks(modules: readonly string[]): ProbeResult {
  return {
    works: false,
    reason: `the kernel lacks ${modules.join(', ')}`,
    remedy: `load what is missing (modprobe ${modules.join(' ')}), or use another mode`,
  };
}
