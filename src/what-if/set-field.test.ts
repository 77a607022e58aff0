import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleService } from '../kinds/service/example.ts';
import { serviceSchema } from '../kinds/service/types.ts';
import { isJsonObject } from '../schema/json-object.ts';
import { ChangeError } from './change.ts';
import { setField } from './set-field.ts';

const service = exampleService({
  metadata: { labels: { app: 'web' } },
  spec: {
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 },
      { name: 'https', protocol: 'TCP', port: 443, targetPort: 8443 },
    ],
    selector: { app: 'web' },
  },
});

const set = (path: string, value: string) => setField(service, serviceSchema, { path, value });
const spec = (path: string, value: string): Readonly<Record<string, unknown>> => {
  const { spec: made } = set(path, value);
  assert.ok(isJsonObject(made));
  return made;
};

describe('setField()', () => {
  it('means the spec unless a path says otherwise', () => {
    assert.equal(spec('internalTrafficPolicy', 'Local').internalTrafficPolicy, 'Local');
    assert.equal(spec('spec.type', 'NodePort').type, 'NodePort');
    const { metadata } = set('metadata.labels.tier', 'front');
    assert.deepEqual((metadata as { labels: object }).labels, { app: 'web', tier: 'front' });
  });

  it('gives values the types of the schema', () => {
    const config = spec('sessionAffinityConfig.clientIP.timeoutSeconds', '60');
    assert.deepEqual(config.sessionAffinityConfig, { clientIP: { timeoutSeconds: 60 } });
    assert.equal(spec('publishNotReadyAddresses', 'true').publishNotReadyAddresses, true);
    assert.deepEqual(spec('selector.version', '2').selector, { app: 'web', version: '2' });
    assert.deepEqual(spec('externalIPs', '[192.0.2.1, 192.0.2.2]').externalIPs, [
      '192.0.2.1',
      '192.0.2.2',
    ]);
  });

  it('finds items of lists by number and by key', () => {
    const ports = (path: string, value: string) =>
      spec(path, value).ports as readonly Readonly<Record<string, unknown>>[];
    assert.equal(ports('ports[1].targetPort', '9443')[1]?.targetPort, 9443);
    assert.equal(ports('ports[name=https].targetPort', 'tls')[1]?.targetPort, 'tls');
    assert.equal(ports('ports[2]', '{name: more, port: 90}')[2]?.port, 90);
    assert.deepEqual(
      ports('ports[0]', 'null').map(({ name }) => name),
      ['https'],
    );
  });

  it('removes with null, and takes keys with dots in brackets', () => {
    assert.equal('selector' in spec('selector', 'null'), false);
    assert.deepEqual(spec('selector.app', 'null').selector, {});
    assert.deepEqual(spec('selector[app.kubernetes.io/name]', 'x').selector, {
      app: 'web',
      'app.kubernetes.io/name': 'x',
    });
  });

  it('does not change the object, nor any prototype', () => {
    set('selector.__proto__', 'x');
    set('selector.constructor.prototype', 'x');
    assert.deepEqual(service.spec.selector, { app: 'web' });
    assert.equal(({} as Readonly<Record<string, unknown>>).x, undefined);
  });

  const refused: readonly (readonly [string, RegExp])[] = [
    ['status.loadBalancer', /status, which controllers write/],
    ['ports[5].port', /there is no item 5 among 2/],
    ['ports[name=ftp].port', /there is no item with name=ftp among 2/],
    ['.a', /is no path/],
    ['a..b', /is no path/],
    ['a[', /is no path/],
    ['a.'.repeat(100), /is no path/],
    ['\u001b[2J', /"\\x1b\[2J" is no path/],
  ];
  for (const [path, why] of refused) {
    it(`refuses ${JSON.stringify(path.slice(0, 30))}`, () => {
      assert.throws(
        () => set(path, 'x'),
        (error) => error instanceof ChangeError && why.test(error.message),
      );
    });
  }
});
