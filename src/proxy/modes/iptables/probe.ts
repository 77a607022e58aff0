// Can this machine run the mode: the programs, the right to use them, and what the kernel must be able to match. Tried on
// the kernel itself, with a chain that is made and removed in one go.
import { CommandError, isProgramMissing } from '../../../host/exec.ts';
import type { Family } from '../../model/state.ts';
import type { ProbeResult } from '../mode.ts';
import { openPrograms, type Programs } from './apply-programs.ts';
import { renderRule } from './render-rule.ts';
import type { Rule, Table } from './rules.ts';

type Need = { readonly module: string; readonly table: Table; readonly rule: Rule };

const needs: readonly Need[] = [
  nat('xt_comment', { comment: 'a b', target: { kind: 'return' } }),
  nat('xt_conntrack', { connection: { states: ['NEW'] }, target: { kind: 'return' } }),
  nat('xt_addrtype', { local: 'destination', target: { kind: 'return' } }),
  nat('xt_mark', { mark: { bit: 1 }, target: { kind: 'mark', bit: 1, action: 'set' } }),
  nat('xt_statistic', { probability: 0.5, target: { kind: 'return' } }),
  nat('xt_recent', {
    recent: { kind: 'set', list: 'KUBE-PROXY-PROBE' },
    target: { kind: 'return' },
  }),
  nat('xt_MASQUERADE', { target: { kind: 'masquerade' } }),
  { module: 'ipt_REJECT', table: 'filter', rule: { target: { kind: 'reject' } } },
];

const sameEnds = nat('xt_bpf', { hasSameEnds: true, target: { kind: 'return' } });

function nat(module: string, rule: Rule): Need {
  return { module, table: 'nat', rule };
}

function translation(family: Family): Need {
  const ip = family === 'IPv4' ? '192.0.2.1' : '2001:db8::1';
  return nat('xt_nat', { protocol: 'TCP', target: { kind: 'translate', ip, port: 80 } });
}

export async function probeIptables(family: Family, namespacePath?: string): Promise<ProbeResult> {
  try {
    const programs = await openPrograms({
      family,
      ...(namespacePath === undefined ? {} : { namespacePath }),
    });
    const all = [...needs, translation(family)];
    const failure = await tryNeeds(programs, all, family);
    if (failure === undefined) return { works: true, detail: programs.version };
    if (isForbidden(failure)) return forbidden(failure);
    return missing(await findMissing(programs, all, family), failure);
  } catch (error) {
    if (isProgramMissing(error)) {
      return {
        works: false,
        reason: `${family === 'IPv4' ? 'iptables' : 'ip6tables'} is not installed`,
        remedy: 'install it (on Debian: apt-get install iptables)',
      };
    }
    if (error instanceof CommandError) {
      return isForbidden(error) ? forbidden(error) : missing([], error);
    }
    throw error;
  }
}

/** Whether rules can tell a packet that goes back to its sender. */
export async function canCompareEnds(programs: Programs, family: Family): Promise<boolean> {
  return (await tryNeeds(programs, [sameEnds], family)) === undefined;
}

const probeChain = 'KUBE-PROXY-PROBE';

async function tryNeeds(
  programs: Programs,
  tried: readonly Need[],
  family: Family,
): Promise<CommandError | undefined> {
  const tables = [...new Set(tried.map(({ table }) => table))];
  const blocks = tables.map((table) => {
    const rules = tried.filter((need) => need.table === table);
    const lines = [
      `*${table}`,
      `:${probeChain} - [0:0]`,
      ...rules.map(({ rule }) => `-A ${probeChain} ${renderRule(rule, family)}`),
      `-F ${probeChain}`,
      `-X ${probeChain}`,
      'COMMIT',
    ];
    return `${lines.join('\n')}\n`;
  });
  try {
    await programs.write(blocks);
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

async function findMissing(
  programs: Programs,
  tried: readonly Need[],
  family: Family,
): Promise<readonly string[]> {
  const modules: string[] = [];
  for (const need of tried) {
    if ((await tryNeeds(programs, [need], family)) !== undefined) modules.push(need.module);
  }
  return modules;
}

function isForbidden({ failure }: CommandError): boolean {
  return /permission denied|operation not permitted|must be root/i.test(failure.stderr);
}

function forbidden({ failure }: CommandError): ProbeResult {
  return {
    works: false,
    reason: `${failure.argv[0]} may not change rules: ${failure.stderr.trim()}`,
    remedy: 'run as root, or grant CAP_NET_ADMIN and CAP_NET_RAW',
  };
}

function missing(modules: readonly string[], { message }: CommandError): ProbeResult {
  return {
    works: false,
    reason: modules.length === 0 ? message : `the kernel lacks ${modules.join(', ')}`,
    remedy:
      modules.length === 0
        ? 'use a kernel with netfilter, or another mode'
        : `load them (modprobe ${modules.join(' ')}), or use another mode`,
  };
}
