// What is good to know about a cluster that works.
import { node, pod, service } from './example-objects.ts';

export type NoteCase = { readonly name: string; readonly objects: string; readonly code: string };

const named = (name: string, port: number): string =>
  pod({
    metadata: { name },
    container: { ports: [{ name: 'http', containerPort: port }] },
  });

export const notes: readonly NoteCase[] = [
  {
    name: 'a named port with two numbers',
    objects:
      service({ spec: { ports: [{ port: 80, targetPort: 'http' }] } }) +
      named('web-1', 8080) +
      named('web-2', 9090),
    code: 'FL0203',
  },
  {
    name: 'pods that end at once',
    objects: service() + pod({ spec: { terminationGracePeriodSeconds: 0 } }),
    code: 'FL0316',
  },
  {
    name: 'affinity of a headless Service',
    objects:
      service({
        spec: { clusterIP: 'None', sessionAffinity: 'ClientIP', ports: [{ port: 8080 }] },
      }) + pod(),
    code: 'FL0407',
  },
  {
    name: 'more pods than an Endpoints object has',
    objects:
      service() +
      Array.from({ length: 1001 }, (_one, at) =>
        pod({
          metadata: { name: `web-${at}` },
          status: {
            phase: 'Running',
            podIP: `10.1.${at >> 8}.${at & 255}`,
            podIPs: [{ ip: `10.1.${at >> 8}.${at & 255}` }],
            conditions: [{ type: 'Ready', status: 'True' }],
          },
        }),
      ).join(''),
    code: 'FL0901',
  },
  {
    name: 'HTTP to a domain outside',
    objects: service({
      spec: {
        selector: undefined,
        type: 'ExternalName',
        externalName: 'api.example.com',
        ports: [{ port: 443 }],
      },
    }),
    code: 'FL0505',
  },
  {
    name: 'one pod in a cluster of two nodes',
    objects: service() + pod() + node('n1') + node('n2'),
    code: 'FL0903',
  },
  {
    name: 'a client of a domain outside',
    objects: pod({ container: { env: [{ name: 'URL', value: 'https://api.example.com' }] } }),
    code: 'FL0510',
  },
];
