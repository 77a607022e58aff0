// The nftables mode on the real kernel, over netlink and through the nft program, in namespaces of this process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../src/host/exec.ts';
import { createFakeClock } from '../../src/host/fake-clock.ts';
import { createNamespace } from '../../src/host/namespaces.ts';
import { useNftProgram } from '../../src/host/nftables/nft-program.ts';
import { openNetlinkAccess } from '../../src/host/nftables/open-table-access.ts';
import type { TableAccess } from '../../src/host/nftables/table-access.ts';
import { silentLog } from '../../src/observe/log.ts';
import { createRandom, type Random, randomState } from '../../src/proxy/model/random-state.ts';
import type { Family, ProxyState, ServicePort } from '../../src/proxy/model/state.ts';
import { cleanUpNftables, startNftables } from '../../src/proxy/modes/nftables/apply.ts';
import { tableOf } from '../../src/proxy/modes/nftables/layout.ts';
import { probeNftables } from '../../src/proxy/modes/nftables/probe.ts';

type Way = TableAccess['transport'];

const full = { kind: 'full' } as const;
const families = ['IPv4', 'IPv6'] as const;
const ways = ['netlink', 'nft'] as const satisfies readonly Way[];
const seeds = Array.from({ length: 6 }, (_, seed) => seed);
const stepsOfSeed = 12;

for (const family of families) {
  for (const way of ways) {
    test(`${family} by ${way}: the kernel takes every kind of rule, and keeps nothing of the probe`, async () => {
      const lab = createLab(family, way);
      const probe = await probeNftables(family, lab.open);
      assert.equal(probe.works, true, JSON.stringify(probe));
      assert.equal(await lab.nft('list', 'ruleset'), '');
      lab.release();
    });

    test(`${family} by ${way}: changes one after the other end where one full write does (KPX-43)`, async () => {
      for (const seed of seeds) {
        const states = randomStates(createRandom(seed), family);
        const [first, ...others] = states;
        const grown = createLab(family, way);
        const mode = await grown.start();
        await mode.sync(first, full);
        for (const { state, keys } of others) {
          await grown.clock.advance(1000);
          await mode.sync(state, { kind: 'ports', keys });
          assert.equal(await mode.isIntact(), true, `seed ${seed}`);
        }
        const last = others.at(-1)?.state ?? first;
        // Twice: what became unused in the last change is deleted a second later.
        await grown.clock.advance(1000);
        await mode.sync(last, { kind: 'ports', keys: new Set() });
        const fresh = createLab(family, way);
        await (await fresh.start()).sync(last, full);
        assert.deepEqual(await grown.listing(), await fresh.listing(), `seed ${seed}`);
        grown.release();
        fresh.release();
      }
    });

    test(`${family} by ${way}: a restart writes nothing`, async () => {
      for (const seed of seeds) {
        const state = randomState(createRandom(seed), { family });
        const lab = createLab(family, way);
        const first = await (await lab.start()).sync(state, full);
        assert.ok(first.bytes > 0);
        const again = await (await lab.start()).sync(state, full);
        assert.deepEqual(again, { isFull: true, changes: 0, bytes: 0 }, `seed ${seed}`);
        lab.release();
      }
    });

    test(`${family} by ${way}: what another program does is noticed and mended`, async () => {
      const state = randomState(createRandom(3), { family });
      const { family: nftFamily, name } = tableOf(family);
      const lab = createLab(family, way);
      const mode = await lab.start();
      await mode.sync(state, full);
      const wanted = await lab.listing();
      const damages = [
        ['flush', 'ruleset'],
        ['flush', 'table', nftFamily, name],
        ['flush', 'chain', nftFamily, name, 'services'],
        ['flush', 'set', nftFamily, name, 'written-rules'],
      ];
      for (const damage of damages) {
        await lab.nft(...damage);
        assert.equal(await mode.isIntact(), false, damage.join(' '));
        await mode.sync(state, full);
        assert.deepEqual(await lab.listing(), wanted, damage.join(' '));
        assert.equal(await mode.isIntact(), true);
      }
      lab.release();
    });

    test(`${family} by ${way}: a table of another make is replaced, other tables are left alone (NFT-01)`, async () => {
      const lab = createLab(family, way);
      const { family: nftFamily } = tableOf(family);
      await lab.nft('add', 'table', nftFamily, 'kube-proxy');
      await lab.nft('add', 'set', nftFamily, 'kube-proxy', 'service-ips', '{ type mark; }');
      await lab.nft('add', 'table', 'inet', 'other');
      const mode = await lab.start();
      await mode.sync(randomState(createRandom(1), { family }), full);
      assert.match(await lab.nft('list', 'tables'), /table inet other/);
      assert.equal(await mode.isIntact(), true);
      await cleanUpNftables(family, lab.open);
      assert.equal(await lab.nft('list', 'tables'), 'table inet other\n');
      await cleanUpNftables(family, lab.open);
      lab.release();
    });
  }
}

test('a refused transaction leaves the rules as they were, and the next sync is full (NFT-12)', async () => {
  const state = randomState(createRandom(2), { family: 'IPv4' });
  const lab = createLab('IPv4', 'netlink');
  let refuses = false;
  const mode = await lab.start(async () => {
    const access = await lab.open();
    const broken = { kind: 'delete-chain', chain: 'no-such-chain' } as const;
    return {
      ...access,
      apply: ({ table, operations }) =>
        access.apply({ table, operations: refuses ? [...operations, broken] : operations }),
    };
  });
  await mode.sync(state, full);
  const before = await lab.listing();
  const [key = ''] = state.ports.keys();
  const without = { node: state.node, ports: new Map([...state.ports].slice(1)) };
  refuses = true;
  await assert.rejects(mode.sync(without, { kind: 'ports', keys: new Set([key]) }), /ENOENT/);
  assert.deepEqual(await lab.listing(), before);
  refuses = false;
  const report = await mode.sync(without, { kind: 'ports', keys: new Set([key]) });
  assert.equal(report.isFull, true);
  lab.release();
});

function createLab(family: Family, way: Way) {
  const namespace = createNamespace();
  const location = { namespacePath: namespace.path };
  const clock = createFakeClock();
  const opened: TableAccess[] = [];
  const nft = async (...args: readonly string[]): Promise<string> =>
    (await runCommand({ ...location, argv: ['nft', ...args], maxOutputBytes: 1e8 })).stdout;
  const open = async (): Promise<TableAccess> => {
    const access = way === 'nft' ? useNftProgram(location) : await openNetlinkAccess(location);
    opened.push(access);
    return access;
  };
  return {
    clock,
    nft,
    open,
    start: (openAccess = open) => startNftables({ family, clock, log: silentLog }, openAccess),
    listing: async () => sortedListing(await nft('-j', 'list', 'ruleset')),
    release() {
      for (const access of opened) void access.close();
      namespace.release();
    },
  };
}

/** The kernel lists chains in the order of their making and elements in that of its hash: both sorted, without numbers. */
function sortedListing(json: string): readonly string[] {
  const { nftables } = JSON.parse(json, (name, value) => {
    if (name === 'handle') return undefined;
    return name === 'elem' && Array.isArray(value)
      ? value.map((one) => JSON.stringify(one)).sort()
      : value;
  }) as { nftables: readonly object[] };
  const rules = nftables.filter((one) => 'rule' in one).map((one) => JSON.stringify(one));
  const others = nftables.filter((one) => !('rule' in one)).map((one) => JSON.stringify(one));
  // Rules keep their order within their chain.
  const chainOf = (rule: string): string => /"chain":"([^"]*)"/.exec(rule)?.[1] ?? '';
  return [
    ...others.sort(),
    ...rules
      .map((rule, at) => ({ rule, at }))
      .sort((a, b) => chainOf(a.rule).localeCompare(chainOf(b.rule)) || a.at - b.at)
      .map(({ rule }) => rule),
  ];
}

type Step = { readonly state: ProxyState; readonly keys: ReadonlySet<string> };

/** One state, then what becomes of it by changes of a few ports at a time. */
function randomStates(random: Random, family: Family): readonly [ProxyState, ...Step[]] {
  const first = randomState(random, { family });
  const originals = [...first.ports.values()] as [ServicePort, ...ServicePort[]];
  const steps: Step[] = [];
  let { ports } = first;
  for (let step = 0; step < stepsOfSeed; step += 1) {
    const keys = new Set<string>();
    const next = new Map(ports);
    for (let change = 0; change <= random.below(3); change += 1) {
      const port = random.pick(originals);
      keys.add(port.key);
      if (random.percent(25)) next.delete(port.key);
      else next.set(port.key, changed(random, port));
    }
    ports = next;
    steps.push({ state: { node: first.node, ports }, keys });
  }
  return [first, ...steps];
}

function changed(random: Random, port: ServicePort): ServicePort {
  const { affinitySeconds: _, ...rest } = port;
  const clusterEndpoints = random.some(port.clusterEndpoints, 70);
  return {
    ...rest,
    ...(random.percent(25) ? { affinitySeconds: random.pick([10, 10800]) } : {}),
    internalPolicy: random.pick(['Cluster', port.internalPolicy]),
    externalPolicy: random.pick(['Cluster', 'Local']),
    clusterEndpoints,
    localEndpoints: random.some(port.localEndpoints, 70),
    hasEndpoints: clusterEndpoints.length > 0 || random.percent(50),
  };
}
