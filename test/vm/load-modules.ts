// What the virtual machine's kernel has as modules, and a machine at work would have loaded.
import { spawnSync } from 'node:child_process';
import { schedulers } from '../../src/proxy/modes/ipvs/settings.ts';

const modules = [
  ...['ip_vs', ...schedulers.map((name) => `ip_vs_${name}`), 'dummy', 'sctp', 'nf_tables'],
  // The kernel would load these by itself, one by one in the middle of a transaction, which takes it ten times as long.
  ...['nft_chain_nat', 'nft_ct', 'nft_fib_ipv4', 'nft_fib_ipv6', 'nft_masq', 'nft_nat'],
  ...['nft_numgen', 'nft_reject_ipv4', 'nft_reject_ipv6', 'nf_conntrack_netlink', 'veth', 'bridge'],
  // An answer from a pod to its neighbour on the same bridge comes past the node only with this.
  'br_netfilter',
];

export function loadModules(): void {
  const { status, stderr } = spawnSync('modprobe', ['-a', ...modules], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot load the kernel's modules: ${stderr}`);
}
