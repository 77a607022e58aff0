import type { BrokenCase } from './case.ts';
import { pod, service } from './example-objects.ts';

const to = (targetPort: number | string, more: object = {}): string =>
  service({ spec: { ports: [{ port: 80, targetPort, ...more }] } });
const listening = (...ports: readonly object[]): string => pod({ container: { ports } });
const applied = (ports: readonly object[]): object => ({
  'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec: { ports } }),
});

export const brokenPorts: readonly BrokenCase[] = [
  {
    name: 'a misspelled port name',
    objects: to('htpp') + pod(),
    code: 'FL0201',
    fix: `{"ports":[{"port":80,"targetPort":"http"}]}`,
  },
  {
    name: 'a number in quotes',
    objects: to('8080') + listening({ containerPort: 8080 }),
    code: 'FL0201',
    fix: `{"port":80,"targetPort":8080}`,
  },
  {
    name: 'a name of another protocol',
    objects: to('dns', { protocol: 'UDP' }) + listening({ name: 'dns', containerPort: 53 }),
    code: 'FL0201',
  },
  { name: 'a name, and no declared ports', objects: to('http') + listening(), code: 'FL0201' },
  {
    name: 'a name that a part of the pods have',
    objects:
      to('http') +
      pod() +
      pod({
        metadata: { name: 'web-2' },
        container: { ports: [{ name: 'web', containerPort: 1 }] },
      }),
    code: 'FL0202',
  },
  {
    name: 'a forgotten target port',
    objects: to(80) + pod(),
    code: 'FL0204',
    fix: `{"port":80,"targetPort":8080}`,
  },
  {
    name: 'the two numbers exchanged',
    objects: service({ spec: { ports: [{ port: 8080, targetPort: 80 }] } }) + pod(),
    code: 'FL0204',
    fix: `{"port":8080,"targetPort":8080}`,
  },
  {
    name: 'TCP to a UDP port',
    objects: to(53) + listening({ containerPort: 53, protocol: 'UDP' }),
    code: 'FL0205',
  },
  {
    name: 'one of TCP and UDP after an apply',
    objects:
      service({
        metadata: {
          annotations: applied([
            { name: 'tcp', port: 53, protocol: 'TCP' },
            { name: 'udp', port: 53, protocol: 'UDP' },
          ]),
        },
        spec: { ports: [{ name: 'udp', port: 53, targetPort: 53, protocol: 'UDP' }] },
      }) + listening({ containerPort: 53, protocol: 'UDP' }, { containerPort: 53 }),
    code: 'FL0206',
    fix: `"port":53,"targetPort":53}]`,
  },
  {
    name: 'a port name in two containers',
    objects:
      to('http') +
      pod({
        spec: {
          containers: [
            { name: 'app', image: 'a', ports: [{ name: 'http', containerPort: 8080 }] },
            { name: 'proxy', image: 'b', ports: [{ name: 'http', containerPort: 8081 }] },
          ],
        },
      }),
    code: 'FL0207',
  },
  {
    name: 'a port number in two containers',
    objects:
      to(8080) +
      pod({
        spec: {
          containers: [
            { name: 'app', image: 'a', ports: [{ containerPort: 8080 }] },
            { name: 'proxy', image: 'b', ports: [{ containerPort: 8080 }] },
          ],
        },
      }),
    code: 'FL0208',
  },
  ...[
    ['--bind-address=127.0.0.1'],
    ['--listen', 'localhost:8080'],
    ['serve', '--host', 'localhost'],
    ['--http.addr=[::1]:8080'],
  ].map((args) => ({
    name: `the arguments ${args.join(' ')}`,
    objects: to(8080) + pod({ container: { args } }),
    code: 'FL0209',
  })),
  {
    name: 'a variable that says loopback',
    objects:
      to(8080) + pod({ container: { env: [{ name: 'LISTEN_ADDR', value: '127.0.0.1:8080' }] } }),
    code: 'FL0209',
  },
];
