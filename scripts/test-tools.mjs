// Programs that some lanes drive: real resolvers, packet filters, etcd, a virtual machine. In CI (CI=true, as root, on Debian) what is
// missing is installed; elsewhere nothing is, and a test that needs a missing program says so and is skipped.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Program → Debian's package. */
const tools = {
  ip: 'iproute2',
  nft: 'nftables',
  iptables: 'iptables',
  conntrack: 'conntrack',
  dig: 'bind9-dnsutils',
  'musl-gcc': 'musl-tools',
  etcd: 'etcd-server',
  etcdctl: 'etcd-client',
  'qemu-system-x86_64': 'qemu-system-x86',
  modprobe: 'kmod',
  curl: 'curl',
  'docker-registry': 'docker-registry',
  busybox: 'busybox-static',
  newuidmap: 'uidmap',
  // An old kubectl, which speaks SPDY only.
  kubectl: 'kubernetes-client',
};

const isThere = (program) =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
    .filter((folder) => folder !== '')
    .some((folder) => existsSync(join(folder, program)));

export function installTools() {
  const missing = Object.entries(tools).filter(([program]) => !isThere(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map(([, name]) => name))];
  if (process.env.CI !== 'true' || process.getuid?.() !== 0 || !isThere('apt-get')) {
    process.stdout.write(`Some tests will be skipped without: ${packages.join(' ')}\n`);
    return;
  }
  process.stdout.write(`Installing ${packages.join(' ')}...\n`);
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', '-o', 'Dpkg::Use-Pty=0', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status;
  apt('update');
  if (apt('install', '--yes', '--no-install-recommends', ...packages) !== 0) {
    process.stdout.write('Not all of them could be installed; their tests will be skipped.\n');
  }
}
