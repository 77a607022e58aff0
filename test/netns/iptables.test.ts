// The iptables mode on the real kernel, in namespaces of this process, through both kernel interfaces.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/host/clock.ts';
import { runCommand } from '../../src/host/exec.ts';
import { createNamespace, type HeldNamespace } from '../../src/host/namespaces.ts';
import { silentLog } from '../../src/observe/log.ts';
import {
  exampleNode,
  exampleServicePort,
  exampleState,
} from '../../src/proxy/model/example-state.ts';
import { createRandom, type Random, randomState } from '../../src/proxy/model/random-state.ts';
import type { Family, ProxyState, ServicePort } from '../../src/proxy/model/state.ts';
import { removeRules } from '../../src/proxy/modes/iptables/apply-cleanup.ts';
import { largeClusterCount } from '../../src/proxy/modes/iptables/layout.ts';
import { iptables } from '../../src/proxy/modes/iptables/mode.ts';
import { probeIptables } from '../../src/proxy/modes/iptables/probe.ts';
import type { RunningMode } from '../../src/proxy/modes/mode.ts';
import { removeOwnLock, takeOwnLock } from './lab/xtables-lock.ts';

type Lab = {
  readonly family: Family;
  readonly variant: 'nft' | 'legacy';
  readonly namespace: HeldNamespace;
};

const full = { kind: 'full' } as const;

before(takeOwnLock);
after(removeOwnLock);

function program({ family, variant }: Lab, suffix = ''): string {
  return `${family === 'IPv4' ? 'iptables' : 'ip6tables'}-${variant}${suffix}`;
}

async function run(lab: Lab, suffix: string, stdin?: string, args: readonly string[] = []) {
  const { stdout } = await runCommand({
    argv: [program(lab, suffix), ...args],
    namespacePath: lab.namespace.path,
    maxOutputBytes: 64 * 1024 * 1024,
    ...(stdin === undefined ? {} : { stdin }),
  });
  return stdout;
}

/** What the kernel holds, without what differs from run to run. */
async function rulesOf(lab: Lab): Promise<readonly string[]> {
  const lines = (await run(lab, '-save')).split('\n').filter((line) => !line.startsWith('#'));
  const tables = lines.join('\n').split(/^(?=\*)/m);
  return tables.sort();
}

/** Rules in chains of ours, by table. */
async function countOwnRules(lab: Lab): Promise<Readonly<Record<string, number>>> {
  const isOwn = (line: string): boolean => /^-A KUBE-(?!FIREWALL )/.test(line);
  const counts = (await rulesOf(lab)).map((table): [string, number] => [
    /^\*(\w+)/.exec(table)?.[1] ?? '',
    table.split('\n').filter(isOwn).length,
  ]);
  return Object.fromEntries(counts.filter(([table]) => table !== ''));
}

function start({ family, variant, namespace }: Lab): Promise<RunningMode> {
  const settings = { 'iptables-variant': variant, 'network-namespace': namespace.path };
  const { signal } = new AbortController();
  return iptables.start({ family, log: silentLog, clock: systemClock, settings }, signal);
}

async function withLab(
  lab: Omit<Lab, 'namespace'>,
  work: (lab: Lab) => Promise<void>,
): Promise<void> {
  const namespace = createNamespace();
  try {
    await work({ ...lab, namespace });
  } finally {
    namespace.release();
  }
}

/** What a namespace holds into which only this state was ever written. */
async function freshRules(lab: Lab, state: ProxyState): Promise<readonly string[]> {
  let rules: readonly string[] = [];
  await withLab(lab, async (fresh) => {
    await (await start(fresh)).sync(state, full);
    rules = await rulesOf(fresh);
  });
  return rules;
}

function changedKeys(before: ProxyState, after: ProxyState): ReadonlySet<string> {
  const keys = [...before.ports.keys(), ...after.ports.keys()];
  return new Set(keys.filter((key) => before.ports.get(key) !== after.ports.get(key)));
}

/** Another state of the same node: some services go, some come, some are others under the old name. */
function nextState(random: Random, before: ProxyState): ProxyState {
  const { family } = before.node;
  if (random.percent(40)) {
    const kept = random.some([...before.ports], 60);
    return { ...before, ports: new Map(kept) };
  }
  return { ...before, ports: randomState(random, { family, maxPorts: 8 }).ports };
}

function burst(count: number): readonly ServicePort[] {
  return Array.from({ length: count }, (_, n) =>
    exampleServicePort({
      namespace: 'many',
      name: `${n}`,
      clusterIP: `10.97.${n >> 8}.${n & 255}`,
      ...(n % 5 === 0 ? { nodePort: 30_000 + n } : {}),
      ...(n % 7 === 0 ? { hasEndpoints: false, clusterEndpoints: [], localEndpoints: [] } : {}),
    }),
  );
}

const foreign = `*nat
:OTHERS - [0:0]
-A PREROUTING -p tcp -m tcp --dport 9999 -j OTHERS
-A OTHERS -p tcp -j RETURN
COMMIT
*filter
:OTHERS - [0:0]
:KUBE-FIREWALL - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
-A INPUT -j KUBE-FIREWALL
-A INPUT -p udp -j OTHERS
-A FORWARD -m comment --comment "not -j KUBE-SERVICES" -j ACCEPT
-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP
-A OTHERS -j LOG
COMMIT
`;

for (const variant of ['nft', 'legacy'] as const) {
  for (const family of ['IPv4', 'IPv6'] as const) {
    describe(`iptables mode, ${variant}, ${family}`, () => {
      test('changes one by one come to what a fresh write gives (KPX-43)', () =>
        withLab({ variant, family }, async (lab) => {
          const random = createRandom(family === 'IPv4' ? 1 : 2);
          const mode = await start(lab);
          let state = randomState(random, { family });
          await mode.sync(state, full);
          for (let step = 0; step < 12; step += 1) {
            const next = nextState(random, state);
            const report = await mode.sync(next, { kind: 'ports', keys: changedKeys(state, next) });
            assert.equal(report.isFull, false);
            assert.deepEqual(report.rules, await countOwnRules(lab), `step ${step}`);
            assert.deepEqual(await rulesOf(lab), await freshRules(lab, next), `step ${step}`);
            state = next;
          }
        }));

      test('a full write over the rules of another state comes to what a fresh write gives', () =>
        withLab({ variant, family }, async (lab) => {
          for (let seed = 10; seed < 15; seed += 1) {
            const state = randomState(createRandom(seed), { family });
            // Each time a new process that knows nothing of the one before.
            await (await start(lab)).sync(state, full);
            assert.deepEqual(await rulesOf(lab), await freshRules(lab, state), `seed ${seed}`);
          }
        }));

      test('a restart changes nothing', () =>
        withLab({ variant, family }, async (lab) => {
          for (let seed = 20; seed < 25; seed += 1) {
            const state = randomState(createRandom(seed), { family });
            await (await start(lab)).sync(state, full);
            const { changes, bytes } = await (await start(lab)).sync(state, full);
            assert.deepEqual({ changes, bytes }, { changes: 0, bytes: 0 }, `seed ${seed}`);
          }
        }));

      test('others keep their rules, and removal leaves nothing else (IPT-11, KPX-52)', () =>
        withLab({ variant, family }, async (lab) => {
          await run(lab, '-restore', foreign, ['--noflush']);
          const others = await rulesOf(lab);
          const mode = await start(lab);
          for (let seed = 30; seed < 33; seed += 1) {
            await mode.sync(randomState(createRandom(seed), { family }), full);
          }
          const lines = others.flatMap((table) => table.split('\n'));
          const held = new Set((await rulesOf(lab)).flatMap((table) => table.split('\n')));
          assert.deepEqual(
            lines.filter((line) => !held.has(line)),
            [],
          );
          await removeRules(family, lab.namespace.path);
          const empty = (table: string): boolean =>
            /^[:-][A-Z-]+ .*(?<! ACCEPT \[0:0\])$/m.test(table);
          assert.deepEqual((await rulesOf(lab)).filter(empty), others.filter(empty));
          await removeRules(family, lab.namespace.path);
        }));

      test('notices when a table was flushed or a jump removed, and mends it (IPT-12)', () =>
        withLab({ variant, family }, async (lab) => {
          const state = randomState(createRandom(40), { family });
          const mode = await start(lab);
          await mode.sync(state, full);
          const rules = await rulesOf(lab);
          const attacks = [
            ['-t', 'nat', '-F'],
            ['-t', 'filter', '-D', 'FORWARD', '1'],
            ['-t', 'mangle', '-X'],
            ['-t', 'filter', '-F', 'INPUT'],
          ];
          for (const attack of attacks) {
            assert.equal(await mode.isIntact(), true, attack.join(' '));
            await run(lab, '', undefined, attack);
            assert.equal(await mode.isIntact(), false, attack.join(' '));
            await mode.sync(state, full);
            assert.deepEqual(await rulesOf(lab), rules, attack.join(' '));
          }
        }));
    });
  }

  test(`a node that grows and shrinks is laid out anew, ${variant} (KPX-42)`, () =>
    withLab({ variant, family: 'IPv4' }, async (lab) => {
      const mode = await start(lab);
      const node = exampleNode();
      const few = exampleState(burst(300), node);
      const many = exampleState(burst(largeClusterCount + 200), node);
      const changed = exampleState(burst(largeClusterCount + 400).slice(150), node);
      let state = exampleState([], node);
      await mode.sync(state, full);
      for (const next of [few, many, changed, few]) {
        await mode.sync(next, { kind: 'ports', keys: changedKeys(state, next) });
        assert.deepEqual(await rulesOf(lab), await freshRules(lab, next));
        state = next;
      }
    }));

  test(`changes by another program are noticed at the first check, ${variant}`, () =>
    withLab({ variant, family: 'IPv4' }, async (lab) => {
      const state = exampleState([exampleServicePort()]);
      const mode = await start(lab);
      await mode.sync(state, full);
      const rules = await rulesOf(lab);
      await run(lab, '', undefined, ['-t', 'nat', '-F', 'KUBE-SERVICES']);
      assert.equal(await mode.isIntact(), false);
      await mode.sync(state, full);
      assert.deepEqual(await rulesOf(lab), rules);
      assert.equal(await mode.isIntact(), true);
    }));

  test(`a chain of ours that another program's rule jumps to is flushed, not removed, ${variant}`, () =>
    withLab({ variant, family: 'IPv4' }, async (lab) => {
      const state = exampleState([exampleServicePort()]);
      await (await start(lab)).sync(state, full);
      const stale = 'KUBE-SVC-AAAAAAAAAAAAAAAA';
      await run(
        lab,
        '-restore',
        `*nat\n:${stale} - [0:0]\n:OTHERS - [0:0]\n-A OTHERS -j ${stale}\n-A ${stale} -j RETURN\nCOMMIT\n`,
        ['--noflush'],
      );
      await (await start(lab)).sync(state, full);
      const mode = await start(lab);
      assert.equal((await mode.sync(state, full)).changes, 0);
      const rules = (await rulesOf(lab)).join('');
      assert.match(rules, new RegExp(`:${stale} `));
      assert.doesNotMatch(rules, new RegExp(`-A ${stale} `));
    }));
}

test('probe() tries the kernel and leaves no chain behind', () =>
  withLab({ variant: 'nft', family: 'IPv4' }, async (lab) => {
    const probe = await probeIptables('IPv4', lab.namespace.path);
    assert.equal(probe.works, true, JSON.stringify(probe));
    assert.doesNotMatch((await rulesOf(lab)).join(''), /KUBE/);
  }));
