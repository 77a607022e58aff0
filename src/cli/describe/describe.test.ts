import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Event } from '../../kinds/event/types.ts';
import { exampleService } from '../../kinds/service/example.ts';
import { formatTime } from '../../schema/time.ts';
import { describeObject, readable } from './describe-object.ts';
import { describeService, endpointsText } from './describe-service.ts';
import { eventsField, renderFields } from './describe-text.ts';

const now = 1_000_000_000;

const event = (message: string, agoMs: number, count = 1): Event => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: {},
  involvedObject: {},
  type: 'Warning',
  reason: 'Failed',
  message,
  count,
  source: { component: 'tester' },
  firstTimestamp: formatTime(now - 10 * agoMs),
  lastTimestamp: formatTime(now - agoMs),
  eventTime: '',
  reportingComponent: '',
  reportingInstance: '',
});

const slice = (addresses: readonly string[], ready = true): EndpointSlice => ({
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
  metadata: {},
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready } })),
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});

test('a service is described with its endpoints and events', () => {
  const service = exampleService({
    metadata: { labels: { b: '2', a: '1' } },
    spec: {
      type: 'NodePort',
      selector: { app: 'web' },
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP', nodePort: 30080 }],
    },
  });
  const fields = describeService(service, [
    slice(['10.1.0.1', '10.1.0.2']),
    slice(['10.1.0.3'], false),
  ]);
  const events = eventsField([event('second', 5000, 3), event('first', 60_000)], now);
  assert.equal(
    renderFields([...fields, events]),
    `Name:                     web
Namespace:                default
Labels:                   a=1
                          b=2
Annotations:              <none>
Selector:                 app=web
Type:                     NodePort
IP Family Policy:         SingleStack
IP Families:              IPv4
IP:                       10.96.0.20
IPs:                      10.96.0.20
Port:                     http  80/TCP
TargetPort:               web/TCP
NodePort:                 http  30080/TCP
Endpoints:                10.1.0.1:8080,10.1.0.2:8080
Session Affinity:         None
External Traffic Policy:  Local
Internal Traffic Policy:  Cluster
Events:
  Type      Reason   Age                From     Message
  ----      ------   ---                ----     -------
  Warning   Failed   60s                tester   first
  Warning   Failed   5s (x3 over 50s)   tester   second
`,
  );
});

const endpoints: readonly {
  name: string;
  slices: readonly EndpointSlice[];
  port: string;
  text: string;
}[] = [
  { name: 'no slices', slices: [], port: 'http', text: '<none>' },
  { name: 'no endpoints', slices: [slice([])], port: 'http', text: '' },
  { name: 'another port', slices: [slice(['10.1.0.1'])], port: 'https', text: '' },
  { name: 'IPv6', slices: [slice(['fd00::1'])], port: 'http', text: '[fd00::1]:8080' },
  {
    name: 'many',
    slices: [slice(['10.1.0.1', '10.1.0.2']), slice(['10.1.0.3', '10.1.0.4', '10.1.0.5'])],
    port: 'http',
    text: '10.1.0.1:8080,10.1.0.2:8080,10.1.0.3:8080 + 2 more...',
  },
];
for (const { name, slices, port, text } of endpoints) {
  test(`endpointsText() of ${name}`, () => {
    assert.equal(endpointsText(slices, port), text);
  });
}

test('any object is described field by field, and a secret keeps its values', () => {
  const secret = {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 's', namespace: 'a', uid: 'u', annotations: { note: 'hello' } },
    data: { password: Buffer.from('hello').toString('base64') },
    type: 'Opaque',
    ports: [
      { name: 'http', targetPort: 80 },
      { name: 'dns', targetPort: 53, nodePort: 30053 },
    ],
    items: [{ name: 'first', inner: { a: 1 } }],
    text: 'two\nlines\n',
  };
  assert.equal(
    renderFields(describeObject(secret)),
    `Name:         s
Namespace:    a
Labels:       <none>
Annotations:  note: hello
API Version:  v1
Kind:         Secret
Metadata:
  UID:  u
Data:
  password:  5 bytes
Items:
  first:
    Inner:
      A:  1
    Name:  first
Ports:
  Name   Node Port   Target Port
  ----   ---------   -----------
  http               80
  dns    30053       53
Text:         two
              lines
Type:         Opaque
`,
  );
});

const words: Readonly<Record<string, string>> = {
  clusterIPs: 'Cluster IPs',
  podCIDR: 'Pod CIDR',
  uid: 'UID',
  creationTimestamp: 'Creation Timestamp',
  hostIP: 'Host IP',
  ip: 'IP',
};
for (const [key, text] of Object.entries(words)) {
  test(`readable() of ${key}`, () => assert.equal(readable(key), text));
}
