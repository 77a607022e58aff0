// `etcd-cut-off.js ROUNDS SEED`, in a lab: three members of etcd and two API servers, each on a host of its own, are cut off in turn while
// clients read and write: from everybody, from their own kind, or in one direction only.
import type { Endpoints } from '../../src/kinds/endpoints/types.ts';
import { type Fault, runFaults } from '../crash/etcd-fault-run.ts';
import { type Host, startEtcdOn } from '../parts/harness/running-etcd.ts';
import { type HostedServer, startServersOn } from './lab/etcd-servers.ts';
import { type Cut, makeLossyNetwork } from './lab/lossy-network.ts';

const [rounds = '1', seed = '1'] = process.argv.slice(2);

const network = makeLossyNetwork();
const hosts = [1, 2, 3].map(network.addHost);
const etcd = await startEtcdOn(hosts);
const servers = await startServersOn([11, 12].map(network.addHost), etcd.urls);
const members = hosts.map(({ address }) => address);

type How = Cut['how'];
/** Both ways. */
const apart = (one: string, others: readonly string[], how: How): readonly Cut[] =>
  others.flatMap((other) => [
    { from: one, to: other, how },
    { from: other, to: one, how },
  ]);

const everybody = [...members, ...servers.map(({ address }) => address), network.address];
const others = (address: string, all: readonly string[]): readonly string[] =>
  all.filter((one) => one !== address);

/** Members elect another leader after a second or two. */
const holdMs = 3000;

type Break = Omit<Fault, 'strike' | 'mend'> & { readonly cuts: readonly Cut[] };

function memberBreaks({ address }: Host, n: number): readonly Break[] {
  const answering = servers.map(({ number }) => number);
  const peers = others(address, members);
  return [
    {
      name: `member ${n} is cut off`,
      cuts: apart(address, others(address, everybody), 'lose'),
      answering,
    },
    // Servers still reach it, but it can neither lead nor follow.
    { name: `member ${n} is cut off from members`, cuts: apart(address, peers, 'lose'), answering },
    {
      name: `member ${n} is refused`,
      cuts: apart(address, others(address, everybody), 'refuse'),
      answering,
    },
  ];
}

function serverBreaks({ address, number }: HostedServer): readonly Break[] {
  const answering = servers.map((server) => server.number).filter((one) => one !== number);
  return [
    {
      name: `server ${number} is cut off`,
      cuts: apart(address, others(address, everybody), 'lose'),
      answering,
    },
    {
      name: `server ${number} is cut off from etcd`,
      cuts: apart(address, members, 'lose'),
      answering,
    },
    {
      // What it writes happens, but it never hears so.
      name: `server ${number} is cut off from etcd`,
      cuts: members.map((from) => ({ from, to: address, how: 'lose' })),
      answering,
    },
    {
      name: `server ${number} is refused by etcd`,
      cuts: apart(address, members, 'refuse'),
      answering,
    },
  ];
}

const breaks = [...hosts.flatMap(memberBreaks), ...servers.flatMap(serverBreaks)];
const faults = breaks.map(
  ({ cuts, ...fault }): Fault => ({
    ...fault,
    holdMs,
    strike: () => network.cut(cuts),
    mend: network.mend,
  }),
);

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const all = Array.from({ length: Number(rounds) }, () => faults).flat();
await runFaults({ servers, etcdUrls: etcd.urls, faults: all, seed: Number(seed), say });
await serviceFollows(servers);
say('done');
process.exit(0);

/** The kubernetes Service removes a server that is cut off from etcd, and adds it again. */
async function serviceFollows([one, two]: readonly HostedServer[]): Promise<void> {
  if (one === undefined || two === undefined) throw new Error('there are two servers');
  const api = await one.connect();
  const watch = await api.watch<Endpoints>(
    '/api/v1/namespaces/default/endpoints?watch=true&fieldSelector=metadata.name%3Dkubernetes',
  );
  const leadsTo = (address: string): boolean =>
    JSON.stringify(watch.events.at(-1)?.object.subsets ?? []).includes(`"${address}"`);
  await watch.until(() => leadsTo(one.address) && leadsTo(two.address));
  network.cut(apart(two.address, others(two.address, everybody), 'lose'));
  await watch.until(() => leadsTo(one.address) && !leadsTo(two.address));
  network.mend();
  await watch.until(() => leadsTo(one.address) && leadsTo(two.address));
  api.close();
}
