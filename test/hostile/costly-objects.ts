// Objects and patches within the size of a body whose checks once cost the square of that size, or more.
import type { Attacker, HostileCase } from './run-case.ts';

const core = '/api/v1/namespaces/default';
const configMaps = `${core}/configmaps`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const mebibyte = 1024 * 1024;

const items = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n));

type Sent = {
  readonly method?: string;
  readonly path: string;
  readonly type?: string;
  readonly object: unknown;
};

/** Any answer but a server error. */
async function send(
  { client }: Attacker,
  { method = 'POST', path, type = 'application/json', object }: Sent,
): Promise<void> {
  const headers = { 'content-type': type };
  const body = JSON.stringify(object);
  const { status, text } = await client.send({ method, path, body, headers });
  if (status >= 500) throw new Error(`${method} ${path} answered ${status} ${text.slice(0, 200)}`);
}

const jsonPatch = 'application/json-patch+json';

async function patch(attacker: Attacker, name: string, sent: Sent): Promise<void> {
  await send(attacker, { path: configMaps, object: { metadata: { name } } });
  await send(attacker, { method: 'PATCH', ...sent });
}

const podWith = (name: string, cpu: string) => ({
  metadata: { name },
  spec: { containers: [{ name: 'a', image: 'b', resources: { limits: { cpu } } }] },
});

export const costlyObjects: readonly HostileCase[] = [
  {
    name: 'a quantity of a million digits',
    attack: (attacker) =>
      send(attacker, { path: `${core}/pods`, object: podWith('digits', '1'.repeat(mebibyte)) }),
  },
  {
    name: 'a certificate signing request of newlines',
    attack: (attacker) =>
      send(attacker, {
        path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
        object: {
          metadata: { name: 'newlines' },
          spec: {
            signerName: 'kubernetes.io/kube-apiserver-client',
            usages: ['client auth'],
            request: Buffer.from(
              `-----BEGIN CERTIFICATE REQUEST-----${'\n'.repeat(500_000)}`,
            ).toString('base64'),
          },
        },
      }),
  },
  {
    name: 'a role with a rule of 70 groups, resources, names and verbs each, by a user without rights',
    attack: async (attacker) => {
      const names = (prefix: string): readonly string[] => items(70, (n) => `${prefix}-${n}`);
      await send(attacker, {
        path: `${rbac}/clusterroles`,
        object: {
          metadata: { name: 'writer' },
          rules: [{ apiGroups: ['*'], resources: ['roles'], verbs: ['create'] }],
        },
      });
      await send(attacker, {
        path: `${rbac}/clusterrolebindings`,
        object: {
          metadata: { name: 'writer' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'writer' }],
        },
      });
      const { status } = await attacker.client.send({
        method: 'POST',
        path: `${rbac}/namespaces/default/roles`,
        headers: { 'impersonate-user': 'writer' },
        body: JSON.stringify({
          metadata: { name: 'wide' },
          rules: [
            {
              apiGroups: names('group'),
              resources: names('resource'),
              resourceNames: names('name'),
              verbs: names('verb'),
            },
          ],
        }),
      });
      if (status !== 403) throw new Error(`answered ${status}`);
    },
  },
  {
    name: 'a JSON patch of 9,900 operations',
    attack: (attacker) =>
      patch(attacker, 'patched', {
        path: `${configMaps}/patched`,
        type: jsonPatch,
        object: [
          { op: 'add', path: '/data', value: {} },
          ...items(9_900, (n) => ({ op: 'add', path: `/data/key-${n}`, value: 'x' })),
        ],
      }),
  },
  {
    name: 'a JSON patch of 500 operations on a large object',
    attack: async (attacker) => {
      const data = Object.fromEntries(items(20_000, (n) => [`key-${n}`, 'a'.repeat(20)]));
      await send(attacker, { path: configMaps, object: { metadata: { name: 'large' }, data } });
      await send(attacker, {
        method: 'PATCH',
        path: `${configMaps}/large`,
        type: jsonPatch,
        object: items(500, (n) => ({ op: 'replace', path: `/data/key-${n}`, value: 'b' })),
      });
    },
  },
  {
    name: '9,900 owner references',
    attack: (attacker) =>
      send(attacker, {
        path: configMaps,
        object: {
          metadata: {
            name: 'owned',
            ownerReferences: items(9_900, (n) => ({
              ...{ apiVersion: 'v1', kind: 'Pod', name: `p-${n}`, uid: `u-${n}` },
            })),
          },
        },
      }),
  },
  {
    name: 'a Service of 9,900 ports',
    attack: (attacker) =>
      send(attacker, {
        path: `${core}/services`,
        object: {
          metadata: { name: 'ports' },
          spec: { ports: items(9_900, (n) => ({ name: `p-${n}`, port: n + 1 })) },
        },
      }),
  },
  {
    name: 'a strategic patch that changes the variables of one container 9,000 times',
    attack: async (attacker) => {
      const container = { name: 'a', image: 'b' };
      const env = items(7_000, (n) => ({ name: `e${n}` }));
      await send(attacker, {
        path: `${core}/pods`,
        object: { metadata: { name: 'variables' }, spec: { containers: [{ ...container, env }] } },
      });
      const change = { ...container, env: [{ name: 'x', value: 'y' }] };
      await send(attacker, {
        method: 'PATCH',
        path: `${core}/pods/variables`,
        type: 'application/strategic-merge-patch+json',
        object: { spec: { containers: items(9_000, () => change) } },
      });
    },
  },
];
