import type { BrokenCase } from './case.ts';
import { deployment, event, ownedBy, pod, service } from './example-objects.ts';

const selecting = (selector: object): string => service({ spec: { selector } });
const labelled = (labels: object, name = 'web-1'): string => pod({ metadata: { name, labels } });
const ended = (phase: string): string => pod({ status: { phase } });

export const brokenSelectors: readonly BrokenCase[] = [
  {
    name: 'two letters swapped',
    objects: selecting({ app: 'wbe' }) + pod(),
    code: 'FL0101',
    fix: `'{"spec":{"selector":{"app":"web"}}}'`,
  },
  { name: 'a capital letter', objects: selecting({ app: 'Web' }) + pod(), code: 'FL0101' },
  {
    name: 'another separator',
    objects: selecting({ app: 'shop_frontend' }) + labelled({ app: 'shop-frontend' }),
    code: 'FL0101',
  },
  {
    name: 'the key of another convention',
    objects: selecting({ app: 'web' }) + labelled({ 'app.kubernetes.io/name': 'web' }),
    code: 'FL0101',
    fix: `{"app":null,"app.kubernetes.io/name":"web"}`,
  },
  { name: 'a misspelled key', objects: selecting({ aap: 'web' }) + pod(), code: 'FL0101' },
  {
    name: 'a prefix that lost its slash',
    objects:
      selecting({ 'app.kubernetes.io.name': 'web' }) +
      labelled({ 'app.kubernetes.io/name': 'web' }),
    code: 'FL0101',
  },
  {
    name: 'a label that the pods do not have',
    objects: selecting({ app: 'web', tier: 'frontend' }) + pod(),
    code: 'FL0101',
    fix: `{"selector":{"tier":null}}`,
  },
  {
    name: 'another value of the second label',
    objects: selecting({ app: 'web', version: 'v1' }) + labelled({ app: 'web', version: 'v2' }),
    code: 'FL0101',
    fix: `{"version":"v2"}`,
  },
  {
    name: 'the name of the Service instead of that of the pods',
    objects: selecting({ app: 'web' }) + labelled({ app: 'web-frontend' }),
    code: 'FL0101',
  },
  {
    name: 'a plural',
    objects: selecting({ app: 'orders' }) + labelled({ app: 'order' }),
    code: 'FL0101',
  },
  {
    name: 'other pods only',
    objects: selecting({ app: 'web' }) + labelled({ app: 'database' }),
    code: 'FL0102',
    fix: `{"selector":{"app":"database"}}`,
  },
  { name: 'no pods at all', objects: selecting({ app: 'web' }), code: 'FL0102' },
  {
    name: 'pods of another namespace',
    objects: selecting({ app: 'web' }) + pod({ metadata: { namespace: 'shop' } }),
    code: 'FL0103',
  },
  {
    name: 'a Deployment at zero',
    objects: service() + deployment({ spec: { replicas: 0 } }),
    code: 'FL0104',
    fix: 'kubectl patch deployment web',
  },
  {
    name: 'a Deployment whose pods are refused',
    objects:
      service() +
      deployment({
        status: {
          conditions: [
            {
              type: 'ReplicaFailure',
              status: 'True',
              reason: 'FailedCreate',
              message: 'exceeded quota',
            },
          ],
        },
      }),
    code: 'FL0105',
  },
  {
    name: 'a Deployment that no controller has seen',
    objects: service() + deployment(),
    code: 'FL0105',
  },
  {
    name: 'a Deployment with an event about its pods',
    objects:
      service() +
      deployment() +
      event('FailedCreate', 'pods "web-" is forbidden', { kind: 'Deployment', name: 'web' }),
    code: 'FL0105',
  },
  { name: 'a pod that has finished', objects: service() + ended('Succeeded'), code: 'FL0106' },
  { name: 'a pod that has failed', objects: service() + ended('Failed'), code: 'FL0106' },
  {
    name: 'two applications of one tier',
    objects:
      selecting({ tier: 'back' }) +
      labelled({ app: 'orders', tier: 'back' }, 'orders-1') +
      labelled({ app: 'users', tier: 'back' }, 'users-1'),
    code: 'FL0107',
  },
  {
    name: 'the database of the same release',
    objects:
      selecting({ app: 'shop' }) +
      labelled({ app: 'shop', component: 'web' }) +
      pod({
        metadata: { name: 'db-1', labels: { app: 'shop', component: 'db' } },
        container: { image: 'postgres:16' },
      }),
    code: 'FL0107',
  },
  {
    name: 'the pod of a job',
    objects:
      service() + pod() + pod({ metadata: { name: 'migrate-x', ...ownedBy('Job', 'migrate') } }),
    code: 'FL0107',
  },
  {
    name: 'the hash of one revision',
    objects:
      selecting({ app: 'web', 'pod-template-hash': 'abc12' }) +
      deployment() +
      pod({
        metadata: {
          name: 'web-abc12-x',
          labels: { app: 'web', 'pod-template-hash': 'abc12' },
          ...ownedBy('ReplicaSet', 'web-abc12'),
        },
      }),
    code: 'FL0108',
    fix: `{"selector":{"pod-template-hash":null}}`,
  },
];
