// Three members of etcd and two API servers under load, each killed, frozen and cut off in turn: every acknowledged write is there,
// what clients saw can have happened one by one, no address or port is given twice, no watch misses or repeats a change.
// FAIRLEAD_FAULT_ROUNDS=20 for a night. What a network does that loses packets is in test/netns/etcd-cut-off.test.ts.
import { after, before, test } from 'node:test';
import type { Endpoints } from '../../src/kinds/endpoints/types.ts';
import { chooseSeed } from '../parts/harness/random.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../parts/harness/running-etcd.ts';
import { type Fault, runFaults } from './etcd-fault-run.ts';
import { type FaultServer, type FaultServers, startFaultServers } from './etcd-fault-servers.ts';

const skip = etcdMissing() ?? false;
const rounds = Number(process.env.FAIRLEAD_FAULT_ROUNDS ?? 1);

let etcd: RunningEtcd;
let servers: FaultServers;
before(async () => {
  if (skip !== false) return;
  etcd = await startEtcd(3);
  servers = await startFaultServers(2, etcd.urls);
});
after(async () => {
  if (skip !== false) return;
  await servers.remove();
  await etcd.stop();
});

/** Each alone: of three members one may be missing, of two servers one. */
function faults(): readonly Fault[] {
  const all = servers.all.map(({ number }) => number);
  const but = (number: number): readonly number[] => all.filter((one) => one !== number);
  return [
    ...etcd.members.map(({ kill, start }, n) => ({
      ...{ name: `kill member ${n}`, strike: kill, mend: start, answering: all },
    })),
    ...servers.all.map(({ kill, start, number }) => ({
      ...{ name: `kill server ${number}`, strike: kill, mend: start, answering: but(number) },
    })),
    ...etcd.members.slice(0, 2).map(({ freeze, thaw }, n) => ({
      ...{ name: `freeze member ${n}`, strike: freeze, mend: thaw, answering: all },
    })),
    ...servers.all.slice(0, 1).map(({ freeze, thaw, number }) => ({
      ...{ name: `freeze server ${number}`, strike: freeze, mend: thaw, answering: but(number) },
    })),
    ...servers.all.map(({ cutOff, joinAgain, number }) => ({
      name: `cut server ${number} off from etcd`,
      ...{ strike: cutOff, mend: joinAgain, answering: but(number) },
    })),
  ];
}

test('nothing is lost, given twice or seen out of order', {
  skip,
  timeout: 600_000 + rounds * 300_000,
}, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`FAIRLEAD_SEED=${seed}`);
  await runFaults({
    servers: servers.all,
    etcdUrls: etcd.urls,
    faults: Array.from({ length: rounds }, faults).flat(),
    seed,
    say: (text) => t.diagnostic(text),
  });
});

test('the kubernetes Service drops a server that was killed', {
  skip,
  timeout: 120_000,
}, async () => {
  const [one, two] = servers.all as readonly [FaultServer, FaultServer];
  const api = await one.connect();
  const path =
    '/api/v1/namespaces/default/endpoints?watch=true&fieldSelector=metadata.name%3Dkubernetes';
  const watch = await api.watch<Endpoints>(path);
  const leadsTo = (address: string): boolean =>
    JSON.stringify(watch.events.at(-1)?.object.subsets ?? []).includes(`"${address}"`);
  await watch.until(() => leadsTo(one.advertised) && leadsTo(two.advertised));
  await two.kill();
  await watch.until(() => leadsTo(one.advertised) && !leadsTo(two.advertised));
  await two.start();
  await watch.until(() => leadsTo(two.advertised));
  await two.end();
  await watch.until(() => !leadsTo(two.advertised));
  api.close();
});
