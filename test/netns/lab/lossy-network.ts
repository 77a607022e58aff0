// Machines behind one router, which is this process' network: it can lose or refuse what goes from one to another. A packet that is lost
// is lost in silence, so connections neither end nor go on, as when a cable is pulled somewhere between.
import { execFileSync, spawn } from 'node:child_process';
import { createNamespace, insideNamespace } from '../../../src/host/namespaces.ts';
import type { Host } from '../../parts/harness/running-etcd.ts';

/** What happens to packets from one address to another; the way back is another cut. */
export type Cut = {
  readonly from: string;
  readonly to: string;
  readonly how: 'lose' | 'refuse';
};

export type LossyNetwork = {
  /** The address of the router, and of clients in this process. */
  readonly address: string;
  readonly addHost: (number: number) => Host;
  /** From now on, until `mend`. */
  readonly cut: (cuts: readonly Cut[]) => void;
  readonly mend: () => void;
};

const router = '10.77.0.254';

const rules = `
table ip wire {
  set lost { type ipv4_addr . ipv4_addr; }
  set refused { type ipv4_addr . ipv4_addr; }
  chain refuse {
    meta l4proto tcp ip saddr . ip daddr @refused reject with tcp reset
  }
  chain comes { type filter hook prerouting priority -300; ip saddr . ip daddr @lost drop; }
  chain passes { type filter hook forward priority 0; jump refuse; }
  chain arrives { type filter hook input priority 0; jump refuse; }
  chain leaves { type filter hook output priority 0; ip saddr . ip daddr @lost drop; jump refuse; }
}`;

export function makeLossyNetwork(): LossyNetwork {
  nft(rules);
  run('ip', ['addr', 'add', `${router}/32`, 'dev', 'lo']);
  run('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
  return {
    address: router,
    addHost,
    cut(cuts) {
      const lines = cuts.map(
        ({ from, to, how }) =>
          `add element ip wire ${how === 'lose' ? 'lost' : 'refused'} { ${from} . ${to} }`,
      );
      nft(lines.join('\n'));
    },
    mend: () => nft('flush set ip wire lost\nflush set ip wire refused'),
  };
}

function addHost(number: number): Host {
  const address = `10.77.0.${number}`;
  // Held as long as this process lives: the lab ends with it.
  const { path } = createNamespace();
  const inside = (...args: readonly string[]): void => insideNamespace(path, () => run('ip', args));
  const link = `host-${number}`;
  run('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', path]);
  run('ip', ['link', 'set', link, 'up']);
  run('ip', ['route', 'add', address, 'dev', link, 'src', router]);
  inside('link', 'set', 'lo', 'up');
  inside('link', 'set', 'eth0', 'up');
  inside('addr', 'add', `${address}/32`, 'dev', 'eth0');
  inside('route', 'add', router, 'dev', 'eth0');
  inside('route', 'add', 'default', 'via', router);
  return {
    address,
    launch: (program, args, options) => insideNamespace(path, () => spawn(program, args, options)),
  };
}

function nft(text: string): void {
  execFileSync('nft', ['-f', '-'], { input: text, stdio: ['pipe', 'ignore', 'inherit'] });
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
