// What the virtual machine's kernel has as modules, and a machine at work would have loaded.
import { spawnSync } from 'node:child_process';

export function loadModules(): void {
  const modules = ['ip_vs', 'ip_vs_rr', 'ip_vs_wrr', 'ip_vs_mh', 'dummy', 'sctp', 'nf_tables'];
  const { status, stderr } = spawnSync('modprobe', ['-a', ...modules], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot load the kernel's modules: ${stderr}`);
}
