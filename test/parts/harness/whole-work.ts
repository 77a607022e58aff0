// Whatever the controllers do, asked for by ordinary means: objects made, changed and deleted as people and node agents would.
import { makeCertificateRequest } from '../../../src/apiserver/certificates/x509.ts';
import type { ControllerSettings } from '../../../src/controllers/settings.ts';
import { parseCidr } from '../../../src/ip/cidr.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { formatTime } from '../../../src/schema/time.ts';
import { makeLease, reportNode } from './node-agent.ts';
import { budgets, cronJobs, jobs } from './work-on-batch.ts';
import { addresses, mirroring, ranges, services } from './work-on-services.ts';
import { daemonSets, statefulSets } from './work-on-sets.ts';
import { quotas, storage } from './work-on-storage.ts';
import { deployments, lostNode, replicationControllers } from './work-on-workloads.ts';
import { agent, isGone, list, ns, pass, until, type WorkWorld, type World } from './work-world.ts';

const nodeNames = ['near', 'far', 'third', 'fourth'];

/** Nodes get ranges for their pods. */
export const settingsOfWork: Partial<ControllerSettings> = {
  nodeIpam: {
    clusterCidrs: ['10.244.0.0/16'].flatMap((text) => parseCidr(text) ?? []),
    maskSizes: { IPv4: 24, IPv6: 64 },
    serviceCidrs: [],
  },
};

/** Left by a Service that went while no controller ran: to be there before they start. */
export async function leaveTraces({ api }: Pick<WorkWorld, 'api'>): Promise<void> {
  await api.post('/api/v1/namespaces/default/endpoints', { metadata: { name: 'left' } });
}

/** Throws when something does not happen. */
export async function doWholeWork(given: WorkWorld): Promise<void> {
  const world: World = { ...given, alive: new Set() };
  await nodes(world);
  await world.api.post('/api/v1/namespaces', { metadata: { name: 'work' } });
  await accountsAndBundles(world);
  await deployments(world);
  await services(world);
  await until(world, 'traces are removed', () =>
    isGone(world, '/api/v1/namespaces/default/endpoints/left'),
  );
  await mirroring(world);
  await replicationControllers(world);
  await daemonSets(world);
  await jobs(world);
  await cronJobs(world);
  await budgets(world);
  await storage(world);
  await quotas(world);
  await statefulSets(world);
  await collecting(world);
  await ranges(world);
  await addresses(world);
  await tokens(world);
  await certificateRequests(world);
  await lostNode(world);
  await endOfNamespace(world);
}

async function nodes(world: World): Promise<void> {
  for (const name of nodeNames) {
    await world.api.post('/api/v1/nodes', { metadata: { name } });
    await makeLease(world, name);
    await reportNode(world, name);
    world.alive.add(name);
  }
  await until(world, 'nodes have ranges', async () => {
    const all = await list<{ spec: { podCIDR?: string } }>(world, '/api/v1/nodes');
    return all.every(({ spec }) => spec.podCIDR !== undefined);
  });
}

async function accountsAndBundles(world: World): Promise<void> {
  const bundle = `${ns}/configmaps/kube-root-ca.crt`;
  await until(
    world,
    'the account',
    async () => !(await isGone(world, `${ns}/serviceaccounts/default`)),
  );
  await until(world, 'the bundle', async () => !(await isGone(world, bundle)));
  await world.api.patch(bundle, { data: { 'ca.crt': 'forged' } });
  await until(world, 'the bundle is mended', async () => {
    const { data } = await world.api.get<{ data: Record<string, string> }>(bundle);
    return data['ca.crt'] === 'CERTIFICATE';
  });
}

async function collecting(world: World): Promise<void> {
  const { api } = world;
  const maps = `${ns}/configmaps`;
  const make = async (name: string, owners: readonly object[] = []): Promise<object> => {
    const { metadata } = await api.post(maps, { metadata: { name, ownerReferences: owners } });
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid };
  };
  const first = await make('first');
  const second = await make('second');
  await make('shared', [first, second]);
  await world.clock.advance(1000);
  await api.delete(`${maps}/first`);
  await until(world, 'the reference is dropped', async () => {
    const { metadata } = await api.get(`${maps}/shared`);
    return metadata.ownerReferences?.length === 1;
  });
  await api.delete(`${maps}/second`);
  await until(world, 'the last goes', () => isGone(world, `${maps}/shared`));
}

async function tokens(world: World): Promise<void> {
  const { api, clock } = world;
  const secrets = '/api/v1/namespaces/kube-system/secrets';
  await api.post(secrets, {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      'usage-bootstrap-authentication': 'true',
      expiration: formatTime(clock.now() + 60_000),
    },
  });
  await until(world, 'the cluster information is signed', async () => {
    const path = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
    const { data } = await api.get<{ data: Record<string, string> }>(path);
    return data['jws-kubeconfig-abcdef'] !== undefined;
  });
  await until(world, 'the token goes', () => isGone(world, `${secrets}/bootstrap-token-abcdef`));
}

async function certificateRequests(world: World): Promise<void> {
  const { api } = world;
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const { request } = makeCertificateRequest({ subject: { commonName: 'jane' } });
  const made = await api.post<KubeObject & { spec: object }>(path, {
    metadata: { name: 'jane' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'example.com/signer',
      usages: ['client auth'],
    },
  });
  const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: 'no' }];
  await api.send({
    method: 'PUT',
    path: `${path}/jane/approval`,
    body: { ...made, status: { conditions } },
  });
  // An hour after its decision, when it is looked for the next time: every hour, and again an hour later where that failed.
  for (let hours = 0; hours < 5 && !(await isGone(world, `${path}/jane`)); hours += 1)
    await pass(world, 3_600_000);
  await until(world, 'the decided request goes', () => isGone(world, `${path}/jane`));
}

async function endOfNamespace(world: World): Promise<void> {
  await world.api.delete('/api/v1/namespaces/work');
  await until(
    world,
    'the namespace goes',
    async () => {
      await agent(world);
      return isGone(world, '/api/v1/namespaces/work');
    },
    400_000,
  );
}
