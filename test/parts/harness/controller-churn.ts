// Random changes to services, pods, nodes, hand-made endpoints and to what the controllers wrote, as a seed says.
import { type ApiCaller, callApi } from '../../../src/client/api-call.ts';
import { isApiError } from '../../../src/meta/api-error.ts';
import type { Random } from './random.ts';

export type Churn = { readonly step: () => Promise<void> };

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

const namespace = 'churn';
const core = `/api/v1/namespaces/${namespace}`;
const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
const addresses = '/apis/networking.k8s.io/v1/ipaddresses';

const serviceCount = 6;
const podCount = 24;
const nodeCount = 4;
const apps = ['a', 'b', 'c'] as const;

export async function createChurn(caller: ApiCaller, random: Random): Promise<Churn> {
  const call: Call = async (method, path, body) => {
    try {
      return await callApi(caller, {
        method,
        path,
        ...(body === undefined ? {} : { body }),
        ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
      });
    } catch (error) {
      // What is not there, there already or not allowed in this state is no change.
      if (isApiError(error) && error.status.code < 500) return undefined;
      throw error;
    }
  };
  await call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const steps = [changeService, changePod, changePod, changePod, changePod, changeNode, tamper];
  return {
    async step() {
      const act = steps[random.below(steps.length)] ?? changePod;
      await act(call, random);
    },
  };
}

const app = (random: Random): string => random.pick(apps);

async function changeService(call: Call, random: Random): Promise<void> {
  const name = `s${random.below(serviceCount)}`;
  const path = `${core}/services/${name}`;
  switch (random.below(6)) {
    case 0:
      await call('DELETE', path);
      return;
    case 1:
      await call('PATCH', path, { spec: { selector: { app: app(random) } } });
      return;
    case 2:
      await call('PATCH', path, { metadata: { labels: { round: String(random.below(100)) } } });
      return;
    case 3:
      await call('PATCH', path, { spec: { publishNotReadyAddresses: random.below(2) === 0 } });
      return;
    case 4:
      await makeHandMade(call, random, `h${random.below(2)}`);
      return;
    default:
      await call('POST', `${core}/services`, { metadata: { name }, spec: serviceSpec(random) });
  }
}

function serviceSpec(random: Random): object {
  const named = random.below(3) === 0;
  return {
    selector: { app: app(random) },
    ports: [{ port: 80, targetPort: named ? 'web' : 8080 }],
    ...(random.below(4) === 0 ? { clusterIP: 'None' } : {}),
    ...(random.below(3) === 0 ? { ipFamilyPolicy: 'PreferDualStack' } : {}),
    ...(random.below(3) === 0 ? { trafficDistribution: 'PreferSameZone' } : {}),
    ...(random.below(4) === 0 ? { type: 'NodePort', clusterIP: undefined } : {}),
  };
}

/** A Service without a selector, and user-managed Endpoints. */
async function makeHandMade(call: Call, random: Random, name: string): Promise<void> {
  if (random.below(4) === 0) {
    await call('DELETE', `${core}/services/${name}`);
    return;
  }
  await call('POST', `${core}/services`, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
  const addressesOf = Array.from({ length: random.below(5) + 1 }, (_, i) => ({
    ip: `10.7.0.${i + 1}`,
  }));
  const subsets = [{ addresses: addressesOf, ports: [{ port: 8000 + random.below(2) }] }];
  await call('POST', `${core}/endpoints`, { metadata: { name }, subsets });
  await call('PATCH', `${core}/endpoints/${name}`, { subsets });
}

async function changePod(call: Call, random: Random): Promise<void> {
  const index = random.below(podCount);
  const path = `${core}/pods/p${index}`;
  switch (random.below(8)) {
    case 0:
      await call('DELETE', `${path}?gracePeriodSeconds=0`);
      return;
    case 1:
      await call('DELETE', path);
      return;
    case 2:
      await call('PATCH', path, { metadata: { labels: { app: app(random) } } });
      return;
    case 3:
      await call('PATCH', `${path}/status`, {
        status: { phase: random.pick(['Running', 'Failed']) },
      });
      return;
    default:
      await call('POST', `${core}/pods`, podBody(index, random));
      await call('PATCH', `${path}/status`, readyStatus(index, random));
  }
}

function podBody(index: number, random: Random): object {
  return {
    metadata: { name: `p${index}`, labels: { app: app(random) } },
    spec: {
      nodeName: `n${random.below(nodeCount)}`,
      containers: [
        { name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8080 + random.below(2) }] },
      ],
    },
  };
}

function readyStatus(index: number, random: Random): object {
  const ip = `10.1.0.${index + 1}`;
  const podIPs = [{ ip }, { ip: `fd01::${index + 1}` }];
  const status = random.below(3) === 0 ? 'False' : 'True';
  return {
    status: { phase: 'Running', podIP: ip, podIPs, conditions: [{ type: 'Ready', status }] },
  };
}

async function changeNode(call: Call, random: Random): Promise<void> {
  const name = `n${random.below(nodeCount)}`;
  const labels = { 'topology.kubernetes.io/zone': random.pick(['x', 'y']) };
  if (random.below(4) === 0) await call('DELETE', `/api/v1/nodes/${name}`);
  else await call('POST', '/api/v1/nodes', { metadata: { name, labels } });
  await call('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels } });
}

/** What controllers wrote is changed or deleted behind their back. */
async function tamper(call: Call, random: Random): Promise<void> {
  switch (random.below(5)) {
    case 0:
      await call('DELETE', `${core}/endpoints/s${random.below(serviceCount)}`);
      return;
    case 1:
      await call('PATCH', `${core}/endpoints/s${random.below(serviceCount)}`, { subsets: null });
      return;
    case 2: {
      const name = `10.96.200.${random.below(5) + 1}`;
      await call('POST', addresses, { metadata: { name, labels: managed }, spec: leaked });
      return;
    }
    case 3: {
      const found = (await call('GET', addresses)) as Named | undefined;
      await call('DELETE', `${addresses}/${pickName(found, random)}`);
      return;
    }
    default: {
      const found = (await call('GET', slices)) as Named | undefined;
      const path = `${slices}/${pickName(found, random)}`;
      if (random.below(2) === 0) await call('DELETE', path);
      else await call('PATCH', path, { endpoints: [] });
    }
  }
}

type Named = { readonly items: readonly { readonly metadata: { readonly name: string } }[] };

const pickName = (found: Named | undefined, random: Random): string =>
  found?.items[random.below(found.items.length)]?.metadata.name ?? 'none';

const managed = {
  'ipaddress.kubernetes.io/ip-family': 'IPv4',
  'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
};
const leaked = { parentRef: { resource: 'services', namespace, name: 'never-was' } };
