// The rules in a network as text that two networks can be compared by.
import { execFileSync } from 'node:child_process';
import { openIpvs } from '../../../src/host/netlink/ipvs.ts';
import type { Pod } from './network.ts';

/** Whose rules are meant. */
export type Network = {
  /** Runs a program in it; returns what it prints. */
  readonly run: (program: string, ...args: readonly string[]) => string;
  /** Absent: this process' own. */
  readonly namespacePath?: string;
};

export const thisNetwork: Network = {
  run: (program, ...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 }),
};

export const networkOf = ({ run, process: { pid } }: Pod): Network => ({
  run,
  namespacePath: `/proc/${pid}/ns/net`,
});

/** In one order, without counters and without chains that are empty and wait for their removal. */
export async function rulesOf(mode: string, network: Network): Promise<readonly string[]> {
  if (mode === 'iptables') {
    return network
      .run('iptables-save')
      .split('\n')
      .filter((line) => line.startsWith('-A') || line.startsWith('*'))
      .map((line) => line.replace(/\[\d+:\d+\]/, ''))
      .sort();
  }
  if (mode !== 'ipvs') return nftRules(network);
  return [...nftRules(network), ...(await virtualServers(network)), ...boundAddresses(network)];
}

function nftRules({ run }: Network): readonly string[] {
  const text = run('nft', '-s', 'list', 'ruleset').replace(/\t*chain \S+ \{\n\t*\}\n/g, '');
  // Maps and sets are listed in the order of their hashes.
  return text
    .split(/[,\n]/)
    .map((part) => part.replace(/^\s*elements = \{|\}/g, '').trim())
    .sort();
}

/**
 * Each with its real servers, but for those that have weight 0 and wait for their removal. Not from /proc/net/ip_vs: older kernels count
 * the virtual servers of other networks too when they go on after its first page, and leave out as many of this one.
 */
async function virtualServers({ namespacePath }: Network): Promise<readonly string[]> {
  const ipvs = await openIpvs(namespacePath === undefined ? {} : { namespacePath });
  const found: string[] = [];
  for (const service of await ipvs.listServices()) {
    const text = JSON.stringify(service);
    found.push(text);
    for (const { address, port, weight } of await ipvs.listDestinations(service)) {
      if (weight > 0) found.push(`${text} -> ${address} ${port} ${weight}`);
    }
  }
  await ipvs.close();
  return found.sort();
}

const boundAddresses = ({ run }: Network): readonly string[] =>
  run('ip', '-o', 'addr', 'show', 'dev', 'kube-ipvs0')
    .split('\n')
    .map((line) => line.split(/\s+/)[3] ?? '')
    .sort();

/** What another program does that thinks the machine is its own: all rules, or all virtual servers, are gone. */
export async function throwAway(mode: string): Promise<void> {
  if (mode !== 'ipvs') {
    execFileSync('nft', ['flush', 'ruleset']);
    return;
  }
  const ipvs = await openIpvs();
  for (const service of await ipvs.listServices()) await ipvs.deleteService(service);
  await ipvs.close();
}

/** Looks until both are the same; then none, or else what differs. */
export async function differences(
  left: () => Promise<readonly string[]>,
  right: () => Promise<readonly string[]>,
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const [a, b] = [await left(), await right()];
    if (a.join('\n') === b.join('\n')) return [];
    if (tries === maxTries) {
      return [
        ...a.filter((line) => !b.includes(line)).map((line) => `< ${line}`),
        ...b.filter((line) => !a.includes(line)).map((line) => `> ${line}`),
      ];
    }
    await pause();
  }
}

const maxTries = 20;
