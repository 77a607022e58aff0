import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EncryptionConfigError, parseEncryptionConfig } from './config.ts';

const secret = Buffer.alloc(32, 's').toString('base64');
const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n';
const config = (resources: unknown): string => `${head}resources: ${JSON.stringify(resources)}\n`;
const withProviders = (...providers: unknown[]): string =>
  config([{ resources: ['secrets'], providers }]);
const withResources = (...resources: string[]): string =>
  config([{ resources, providers: [{ identity: {} }] }]);
const key = (fields: object): unknown => ({ aescbc: { keys: [{ name: 'k', secret, ...fields }] } });

test('parseEncryptionConfig() reads what the documentation shows', () => {
  const text = `${head}resources:
  - resources:
      - secrets
      - configmaps
      - pandas.awesome.bears.example
    providers:
      - identity: {}
      - aesgcm:
          keys:
            - name: key1
              secret: c2VjcmV0IGlzIHNlY3VyZQ==
            - name: key2
              secret: dGhpcyBpcyBwYXNzd29yZA==
      - aescbc:
          keys:
            - name: key1
              secret: c2VjcmV0IGlzIHNlY3VyZQ==
      - secretbox:
          keys:
            - name: key1
              secret: YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=
  - resources:
      - '*.apps'
    providers:
      - identity: {}
  - resources:
      - '*.*'
    providers:
      - identity: {}
`;
  const { resources } = parseEncryptionConfig(text, 'f');
  assert.deepEqual(
    resources.map((entry) => [entry.resources, entry.providers.map(({ type }) => type)]),
    [
      [
        ['secrets', 'configmaps', 'pandas.awesome.bears.example'],
        ['identity', 'aesgcm', 'aescbc', 'secretbox'],
      ],
      [['*.apps'], ['identity']],
      [['*.*'], ['identity']],
    ],
  );
});

const first = 'resources[0].providers[0]';
const refusals: readonly [string, string, string][] = [
  ['no YAML', `${head}resources: [\n`, 'it is not YAML'],
  ['an empty file', '', '<root>: Invalid value: "REDACTED": must be an object'],
  [
    'another kind',
    'apiVersion: v1\nkind: Secret\nresources: []\n',
    'kind: Unsupported value: "Secret": supported values: "EncryptionConfiguration"',
  ],
  ['no resources', head, 'resources: Required value: at least one resources is required'],
  [
    'an entry without resources',
    config([{ providers: [{ identity: {} }] }]),
    'resources[0].resources: Required value: at least one resources[0].resources is required',
  ],
  [
    'an entry without providers',
    config([{ resources: ['secrets'] }]),
    'resources[0].providers: Required value: at least one resources[0].providers is required',
  ],
  [
    'an empty provider',
    withProviders({}),
    `${first}: Required value: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`,
  ],
  [
    'two providers in one',
    withProviders({ identity: {}, aescbc: { keys: [{ name: 'k', secret }] } }),
    'more than one provider specified in a single element, should split into different list elements',
  ],
  [
    'kms',
    withProviders({ kms: { name: 'k' } }),
    'kms is not supported by this server; use aescbc, aesgcm or secretbox',
  ],
  [
    'no keys',
    withProviders({ aescbc: {} }),
    `${first}.aescbc.keys: Required value: at least one keys is required`,
  ],
  [
    'an empty list of keys',
    withProviders({ aescbc: { keys: [] } }),
    `${first}.aescbc.keys: Required value: at least one keys is required`,
  ],
  [
    'a key without a name',
    withProviders(key({ name: '' })),
    `${first}.aescbc.keys[0].name: Required value: name is a mandatory field for a key`,
  ],
  [
    'a key without a secret',
    withProviders(key({ secret: '' })),
    `${first}.aescbc.keys[0].secret: Required value: secret is a mandatory field for a key`,
  ],
  [
    'a secret that is no base64',
    withProviders(key({ secret: 'top secret!' })),
    `${first}.aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
  ],
  [
    'a short secret',
    withProviders(key({ secret: 'c2hvcnQ=' })),
    `${first}.aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [16 24 32]`,
  ],
  [
    '16 bytes for secretbox',
    withProviders({ secretbox: { keys: [{ name: 'k', secret: 'c2VjcmV0IGlzIHNlY3VyZQ==' }] } }),
    'secret is not of the expected length, got 16, expected one of [32]',
  ],
  [
    'a field that does not exist',
    withProviders(key({ secrets: 'x' })),
    `${first}.aescbc.keys[0]: Invalid value: "REDACTED": unknown field; there are name, secret`,
  ],
  [
    'a star',
    withResources('*'),
    `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`,
  ],
  ['capitals', withResources('Secrets'), 'resource name should not contain capital letters'],
  [
    'a resource of all groups',
    withResources('secrets.*'),
    'encrypting the same resource across groups is not supported',
  ],
  [
    'the group of events',
    withResources('events.events.k8s.io'),
    "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
  ],
  [
    'extensions',
    withResources('*.extensions'),
    "'extensions' group has been removed and cannot be used for encryption",
  ],
  [
    'allocations',
    withResources('serviceipallocations'),
    'resources which do not have REST API/s cannot be encrypted',
  ],
  [
    'the same twice',
    withResources('secrets', 'secrets'),
    'the same resource cannot be specified multiple times',
  ],
  [
    'overlap with a group',
    withResources('secrets', '*.'),
    "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
  ],
  [
    'overlap with everything',
    withResources('*.*', 'configmaps'),
    'in the same resource list is not allowed as they will be masked',
  ],
];

for (const [name, text, expected] of refusals) {
  test(`parseEncryptionConfig() refuses ${name}`, () => {
    assert.throws(
      () => parseEncryptionConfig(text, 'f'),
      (error: Error) => {
        assert.ok(error instanceof EncryptionConfigError);
        assert.ok(error.message.includes(expected), error.message);
        assert.ok(!error.message.includes(secret));
        return true;
      },
    );
  });
}

test('parseEncryptionConfig() shows no part of the file that may be a secret', () => {
  const mark = 'TOPSECRETVALUE';
  const files = [
    withProviders(key({ secret: mark })),
    withProviders(key({ [mark]: 1 })),
    withProviders({ aescbc: mark }),
    withProviders(mark),
    `${head}resources: ${mark}\n`,
    `${head}resources:\n - ${mark}: [\n`,
    `${mark}\n`,
    `${head}resources:\n  - x: "${mark}\n`,
    `${head}${mark}: 1\n${mark}: 2\n`,
    `${head}resources: !!binary ${mark}\n`,
    `${head}resources: *${mark}\n`,
  ];
  for (const text of files) {
    assert.throws(
      () => parseEncryptionConfig(text, 'f'),
      (error: Error) => !error.message.includes(mark),
      text,
    );
  }
});
