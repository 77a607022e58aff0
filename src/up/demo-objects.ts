// The objects of `demo`: three pods that respond with their names, a Service for them, and a pod that sends it requests.
import type { KubeObject } from '../meta/object.ts';

const partOfLabel = 'app.kubernetes.io/part-of';
const labels = { [partOfLabel]: 'fairlead-demo' };
/** Selects all that the demo makes. */
export const demoSelector = `${partOfLabel}=fairlead-demo`;
export const demoName = 'hello';
export const demoClient = 'hello-client';
const serverPort = 8080;
/** Slow enough to read the output. */
const requestIntervalMs = 500;

const server = `
const { createServer } = require('node:http');
const { hostname } = require('node:os');
createServer((request, response) => response.end(hostname() + ' at ' + request.socket.localAddress.replace('::ffff:', '')))
  .listen(${serverPort});
`;

/** A new connection for each request: the proxy chooses an endpoint per connection. */
const client = `
const { get } = require('node:http');
const print = (text) => console.log('http://${demoName} answered: ' + text);
const request = () => {
  get({ host: '${demoName}', agent: false, timeout: 2000 }, async (response) => {
    let text = '';
    for await (const part of response) text += part;
    print(text);
  }).on('error', (error) => print(error.message));
};
setInterval(request, ${requestIntervalMs});
`;

type Manifest = KubeObject & { readonly spec: unknown };

export function demoObjects(namespace: string): readonly Manifest[] {
  const app = { app: demoName };
  const container = (name: string, script: string) => ({
    name,
    image: 'process',
    command: ['node', '-e', script],
  });
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: demoName, namespace, labels },
      spec: {
        replicas: 3,
        selector: { matchLabels: app },
        template: {
          metadata: { labels: { ...labels, ...app } },
          spec: {
            containers: [
              {
                ...container('hello', server),
                ports: [{ name: 'http', containerPort: serverPort }],
                readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: demoName, namespace, labels },
      spec: {
        type: 'LoadBalancer',
        selector: app,
        ports: [{ name: 'http', port: 80, targetPort: 'http' }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: demoClient, namespace, labels },
      spec: { containers: [container('client', client)], terminationGracePeriodSeconds: 1 },
    },
  ];
}
