import type { BrokenCase } from './case.ts';

const pod = (labels: string, name = 'web-1'): string => `
---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {${labels}}}
spec: {containers: [{name: app, image: app:1, ports: [{name: http, containerPort: 80}]}]}
`;
const service = (selector: string): string => `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {${selector}}, ports: [{port: 80}]}
`;

export const brokenSelectors: readonly BrokenCase[] = [
  {
    name: 'two letters swapped',
    objects: service('app: wbe') + pod('app: web'),
    code: 'FL0101',
    fix: `'{"spec":{"selector":{"app":"web"}}}'`,
  },
  {
    name: 'a capital letter',
    objects: service('app: Web') + pod('app: web'),
    code: 'FL0101',
  },
  {
    name: 'another separator',
    objects: service('app: shop_frontend') + pod('app: shop-frontend'),
    code: 'FL0101',
  },
  {
    name: 'the key of another convention',
    objects: service('app: web') + pod('app.kubernetes.io/name: web'),
    code: 'FL0101',
    fix: `{"app":null,"app.kubernetes.io/name":"web"}`,
  },
  {
    name: 'a misspelled key',
    objects: service('aap: web') + pod('app: web'),
    code: 'FL0101',
  },
  {
    name: 'a label that the pods do not have',
    objects: service('app: web, tier: frontend') + pod('app: web'),
    code: 'FL0101',
    fix: `{"selector":{"tier":null}}`,
  },
  {
    name: 'another value of the second label',
    objects: service('app: web, version: v1') + pod('app: web, version: v2'),
    code: 'FL0101',
    fix: `{"version":"v2"}`,
  },
  {
    name: 'the name of the Service instead of that of the pods',
    objects: service('app: web') + pod('app: web-frontend'),
    code: 'FL0101',
  },
  {
    name: 'other pods only',
    objects: service('app: web') + pod('app: database'),
    code: 'FL0102',
    fix: `{"selector":{"app":"database"}}`,
  },
  { name: 'no pods at all', objects: service('app: web'), code: 'FL0102' },
];
