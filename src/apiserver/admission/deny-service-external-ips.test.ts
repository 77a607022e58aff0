import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { exampleService } from '../../kinds/service/example.ts';
import { chosenPlugins } from './all.ts';
import { denyServiceExternalIPs } from './deny-service-external-ips.ts';
import { outcomeOf } from './example.ts';

const definition = serviceDefinition;
const refused = 'services "web" is forbidden: Use of external IPs is denied by admission control.';
const a = '192.0.2.1';
const b = '192.0.2.2';

const cases: readonly {
  readonly title: string;
  readonly before?: readonly string[];
  readonly after: readonly string[];
  readonly subresource?: string;
  readonly isRefused: boolean;
}[] = [
  { title: 'lets services without any be made', after: [], isRefused: false },
  { title: 'refuses a new service with one', after: [a], isRefused: true },
  { title: 'refuses one more', before: [a], after: [a, b], isRefused: true },
  { title: 'refuses another instead', before: [a], after: [b], isRefused: true },
  { title: 'lets those stay that are there', before: [a, b], after: [b, a], isRefused: false },
  { title: 'lets one go', before: [a, b], after: [b], isRefused: false },
  {
    title: 'does not look at status',
    before: [],
    after: [a],
    subresource: 'status',
    isRefused: false,
  },
];

const service = (externalIPs: readonly string[]) => exampleService({ spec: { externalIPs } });

for (const { title, before, after, subresource = '', isRefused } of cases) {
  test(`DenyServiceExternalIPs ${title} (API-75)`, () => {
    const wanted = service(after);
    const outcome = outcomeOf(denyServiceExternalIPs, {
      definition,
      subresource,
      after: wanted,
      ...(before === undefined ? {} : { operation: 'update', before: service(before) }),
    });
    assert.deepEqual(outcome, isRefused ? refused : wanted);
  });
}

test('DenyServiceExternalIPs lets services be deleted, and all else alone', () => {
  const before = service([a]);
  const write = { definition, operation: 'delete', before } as const;
  assert.equal(outcomeOf(denyServiceExternalIPs, write), undefined);
  assert.equal(
    outcomeOf(denyServiceExternalIPs, { definition: podDefinition, after: before }),
    before,
  );
});

const names = (choice: Parameters<typeof chosenPlugins>[0]): readonly string[] =>
  chosenPlugins(choice).map(({ name }) => name);

test('chosenPlugins() keeps the order, whatever is asked for', () => {
  const usual = names({});
  const [first, second] = usual;
  assert.deepEqual([first, second], ['NamespaceLifecycle', 'LimitRanger']);
  // What is used is judged last, when nothing changes the object any more.
  assert.equal(usual.at(-1), 'ResourceQuota');
  assert.deepEqual(names({ enable: ['DenyServiceExternalIPs', 'ServiceAccount'] }), [
    ...usual.slice(0, -1),
    'DenyServiceExternalIPs',
    'ResourceQuota',
  ]);
  assert.deepEqual(
    names({ disable: ['NodeRestriction'] }),
    usual.filter((name) => name !== 'NodeRestriction'),
  );
});
