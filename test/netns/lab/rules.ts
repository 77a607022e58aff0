// The rules in a network as text that two networks can be compared by.
import { execFileSync } from 'node:child_process';
import { openIpvs } from '../../../src/host/netlink/ipvs.ts';

type Run = (program: string, ...args: readonly string[]) => string;

export const runHere: Run = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

/** In one order, without counters and without chains that are empty and wait for their removal. */
export function rulesOf(mode: string, run: Run): readonly string[] {
  if (mode === 'iptables') {
    return run('iptables-save')
      .split('\n')
      .filter((line) => line.startsWith('-A') || line.startsWith('*'))
      .map((line) => line.replace(/\[\d+:\d+\]/, ''))
      .sort();
  }
  if (mode === 'ipvs') return [...nftRules(run), ...virtualServers(run), ...boundAddresses(run)];
  return nftRules(run);
}

function nftRules(run: Run): readonly string[] {
  const text = run('nft', '-s', 'list', 'ruleset').replace(/\t*chain \S+ \{\n\t*\}\n/g, '');
  // Maps and sets are listed in the order of their hashes.
  return text
    .split(/[,\n]/)
    .map((part) => part.replace(/^\s*elements = \{|\}/g, '').trim())
    .sort();
}

/** Each with its real servers, but for those that have weight 0 and wait for their removal. */
function virtualServers(run: Run): readonly string[] {
  const found: string[] = [];
  let service = '';
  for (const line of run('cat', '/proc/net/ip_vs').split('\n')) {
    const [first = '', second = '', , weight] = line.trim().split(/\s+/);
    if (/^(TCP|UDP|SCTP)$/.test(first)) {
      service = line.trim();
      found.push(service);
    } else if (first === '->' && /^\d+$/.test(weight ?? '') && weight !== '0') {
      found.push(`${service} -> ${second}`);
    }
  }
  return found.sort();
}

const boundAddresses = (run: Run): readonly string[] =>
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
  left: () => readonly string[],
  right: () => readonly string[],
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const [a, b] = [left(), right()];
    if (a.join('\n') === b.join('\n')) return [];
    if (tries === mostTries) {
      return [
        ...a.filter((line) => !b.includes(line)).map((line) => `< ${line}`),
        ...b.filter((line) => !a.includes(line)).map((line) => `> ${line}`),
      ];
    }
    await pause();
  }
}

const mostTries = 20;
