import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../../kinds/service/types.ts';
import { examplePort, exampleService } from '../../example.ts';
import { createAddressBook } from './address-book.ts';
import { clashOf, decideAddresses } from './desired.ts';
import { createFreeSearch, type Pools, parsePool } from './parse-pool.ts';
import { asksForInternal, readAddressRequest, type Sharing } from './read-request.ts';

const pool = (text: string) => {
  const parsed = parsePool(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
};

describe('clashOf()', () => {
  const sharing = (changes: Partial<Sharing> = {}): Sharing => ({
    sharingKey: 'k',
    ports: ['80/TCP'],
    backends: 'Cluster',
    ...changes,
  });
  const other = sharing({ ports: ['81/TCP'] });
  const cases: readonly [string, Sharing, RegExp | undefined][] = [
    ['the same key and other ports', sharing(), undefined],
    ['the same port of another protocol', sharing({ ports: ['81/UDP'] }), undefined],
    ['no key', sharing({ sharingKey: '' }), /need a sharing key/],
    ['another key', sharing({ sharingKey: 'l' }), /keys are different/],
    ['the same port', sharing({ ports: ['80/TCP', '81/TCP'] }), /both want port 81\/TCP/],
    ['another policy', sharing({ backends: 'Local default []' }), /must be Cluster for both/],
  ];
  for (const [title, given, says] of cases) {
    test(title, () => {
      const clash = clashOf(given, other);
      if (says === undefined) assert.equal(clash, undefined);
      else assert.match(clash ?? '', says);
    });
  }
});

describe('asksForInternal() (LBC-22)', () => {
  const cases: readonly [string, string, boolean][] = [
    ['networking.gke.io/load-balancer-type', 'Internal', true],
    ['networking.gke.io/load-balancer-type', 'External', false],
    ['cloud.google.com/load-balancer-type', 'Internal', true],
    ['service.beta.kubernetes.io/aws-load-balancer-internal', 'true', true],
    ['service.beta.kubernetes.io/aws-load-balancer-internal', '0.0.0.0/0', true],
    ['service.beta.kubernetes.io/aws-load-balancer-internal', 'false', false],
    ['service.beta.kubernetes.io/aws-load-balancer-scheme', 'internal', true],
    ['service.beta.kubernetes.io/aws-load-balancer-scheme', 'internet-facing', false],
    ['service.beta.kubernetes.io/azure-load-balancer-internal', 'true', true],
    ['service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type', 'private', true],
    ['service.beta.kubernetes.io/openstack-internal-load-balancer', 'true', true],
    ['service.beta.kubernetes.io/cce-load-balancer-internal-vpc', 'true', true],
    ['service.kubernetes.io/qcloud-loadbalancer-internal-subnetid', 'subnet-1', true],
    ['service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type', 'intranet', true],
    ['service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type', 'internet', false],
    ['service.beta.kubernetes.io/oci-load-balancer-internal', 'true', true],
    ['example.com/unrelated', 'true', false],
  ];
  for (const [name, value, want] of cases) {
    test(`${name}: ${value}`, () => assert.equal(asksForInternal({ [name]: value }), want));
  }
});

describe('decideAddresses()', () => {
  const pools: Pools = { external: pool('192.0.2.1-192.0.2.3'), internal: pool('10.0.0.1') };
  const shared = (name: string, port: number, spec: Partial<Service['spec']> = {}): Service =>
    exampleService({
      name,
      annotations: { 'metallb.io/allow-shared-ip': 'k' },
      spec: { ports: [{ ...examplePort, port }], ...spec },
    });
  const decideIn = (book: ReturnType<typeof createAddressBook>, service: Service) => {
    const request = readAddressRequest(service);
    const decision = decideAddresses({
      request,
      pools,
      findFree: createFreeSearch(pools).find,
      held: book.heldBy(request.uid),
      othersAt: (address) => book.othersAt(address, request.uid),
      addressesOf: book.addressesOf,
    });
    if (decision.problem !== undefined) return decision.problem.message;
    book.give(request, decision.addresses);
    return decision.addresses.join();
  };

  test('puts Services with one sharing key on one address while their ports allow', () => {
    const book = createAddressBook();
    assert.equal(decideIn(book, shared('a', 80)), '192.0.2.1');
    assert.equal(decideIn(book, shared('b', 81)), '192.0.2.1');
    assert.equal(decideIn(book, shared('c', 80)), '192.0.2.2');
    assert.equal(decideIn(book, exampleService({ name: 'd' })), '192.0.2.3');
    assert.equal(
      decideIn(book, shared('e', 82, { loadBalancerIP: '192.0.2.3' })),
      'Cannot use "192.0.2.3" from spec.loadBalancerIP: Service "default/d" has it, and they cannot share it: both need a sharing key (annotation fairlead.dev/allow-shared-ip)',
    );
  });

  test('moves a Service that came to clash with one it shared with', () => {
    const book = createAddressBook();
    decideIn(book, shared('a', 80));
    decideIn(book, shared('b', 81));
    assert.equal(decideIn(book, shared('b', 80)), '192.0.2.2');
  });

  test('goes to the internal pool and back with the annotation', () => {
    const book = createAddressBook();
    const annotations = { 'networking.gke.io/load-balancer-type': 'Internal' };
    assert.equal(decideIn(book, exampleService()), '192.0.2.1');
    assert.equal(decideIn(book, exampleService({ annotations })), '10.0.0.1');
    assert.equal(decideIn(book, exampleService()), '192.0.2.1');
  });
});

/** A small generator whose draws a failing seed repeats. */
function drawer(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomService(draw: (below: number) => number): Service {
  const pick = <T>(...words: readonly [T, ...T[]]): T => words[draw(words.length)] ?? words[0];
  const sharingKey = pick('', '', 'k', 'l');
  const requested = pick('', '', '', '192.0.2.2', '192.0.2.4', '10.0.0.1', '2001:db8::2');
  return exampleService({
    name: `s${draw(12)}`,
    annotations: {
      ...(sharingKey === '' ? {} : { 'fairlead.dev/allow-shared-ip': sharingKey }),
      ...(draw(5) === 0 ? { 'fairlead.dev/load-balancer-internal': 'true' } : {}),
    },
    spec: {
      loadBalancerIP: requested,
      selector: { app: pick('a', 'b') },
      externalTrafficPolicy: pick('Cluster', 'Cluster', 'Local'),
      ipFamilyPolicy: pick('SingleStack', 'PreferDualStack', 'RequireDualStack'),
      ipFamilies: pick(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']),
      ports: [
        { ...examplePort, port: pick(80, 81, 82), protocol: pick('TCP', 'UDP') },
        { ...examplePort, port: pick(90, 91), protocol: 'TCP' },
      ],
    },
  });
}

type Placed = { readonly service: Service; readonly addresses: readonly string[] };

const roomyPools: Pools = {
  external: pool('192.0.2.1-192.0.2.5,2001:db8::1-2001:db8::3'),
  internal: pool('10.0.0.1-10.0.0.2'),
};

/** Whatever happens in whatever order: no two on one address that may not share it. */
test('random Services never share an address, nor a port of it, without the right to', () => {
  let shared = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    const draw = drawer(seed);
    const services = new Map<string, Placed>();
    let book = createAddressBook();
    for (let step = 0; step < 60; step += 1) {
      const service = randomService(draw);
      const act = draw(10);
      if (act === 0) {
        services.delete(readAddressRequest(service).uid);
        book.remove(readAddressRequest(service).uid);
      } else if (act === 1) {
        // A new controller knows only what is published.
        book = createAddressBook();
        for (const one of services.values())
          book.publish(readAddressRequest(one.service), one.addresses);
      } else {
        assign(book, service, services);
      }
      shared += checkPairs([...services.values()], seed);
    }
  }
  assert.ok(shared > 100, 'sharing happened');
});

function assign(
  book: ReturnType<typeof createAddressBook>,
  service: Service,
  services: Map<string, Placed>,
): void {
  const request = readAddressRequest(service);
  const decision = decideAddresses({
    request,
    pools: roomyPools,
    findFree: createFreeSearch(roomyPools).find,
    held: book.heldBy(request.uid),
    othersAt: (address) => book.othersAt(address, request.uid),
    addressesOf: book.addressesOf,
  });
  if (decision.problem !== undefined) return;
  const { addresses } = decision;
  book.give(request, addresses);
  book.publish(request, addresses);
  services.set(request.uid, { service, addresses });
  assert.equal(new Set(addresses).size, addresses.length);
}

/** In its own words, so that a mistake of what decides is not made twice. */
function mayShare(a: Service, b: Service): boolean {
  const keyOf = ({ metadata }: Service) => metadata.annotations?.['fairlead.dev/allow-shared-ip'];
  const portsOf = ({ spec }: Service) =>
    (spec.ports ?? []).map(({ port, protocol }) => `${protocol} ${port}`);
  if (keyOf(a) === undefined || keyOf(a) !== keyOf(b)) return false;
  if (portsOf(a).some((port) => portsOf(b).includes(port))) return false;
  const [policy, other] = [a.spec.externalTrafficPolicy, b.spec.externalTrafficPolicy];
  if (policy === 'Cluster' && other === 'Cluster') return true;
  return policy === other && a.spec.selector?.app === b.spec.selector?.app;
}

function checkPairs(all: readonly Placed[], seed: number): number {
  let shared = 0;
  for (const [at, a] of all.entries()) {
    for (const b of all.slice(at + 1)) {
      if (!a.addresses.some((address) => b.addresses.includes(address))) continue;
      shared += 1;
      assert.ok(mayShare(a.service, b.service), `seed ${seed}: ${a.addresses} and ${b.addresses}`);
    }
  }
  return shared;
}
