import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRegistrySettings, RegistrySettingsError } from './parse-registry-settings.ts';

const certificate = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
const readFile = (path: string): string => {
  if (path === 'ca.pem') return certificate;
  if (path === 'empty') return '';
  throw new Error('ENOENT');
};

const refused: Readonly<Record<string, RegExp>> = {
  '': /"registries" must be a map/,
  'registries: [a]': /"registries" must be a map/,
  '{': /not YAML/,
  'registries: {"https://a": {}}': /"https:\/\/a" is not a registry/,
  'registries: {a/b: {}}': /"a\/b" is not a registry/,
  'registries: {a.example: 1}': /the entry for "a.example" is not a map/,
  'registries: {a.example: {mirror: x}}': /"mirror" of "a.example" is not known, want mirrors/,
  'registries: {a.example: {mirrors: b.example}}': /mirrors of "a.example" must be a list/,
  'registries: {a.example: {mirrors: ["b.example"]}}': /mirrors of "a.example" must be a list/,
  'registries: {a.example: {mirrors: ["ftp://b"]}}': /mirrors of "a.example" must be a list/,
  'registries: {a.example: {mirrors: ["https://u:p@b"]}}': /mirrors of "a.example" must be/,
  'registries: {a.example: {insecure: "yes"}}': /insecure of "a.example" must be true or false/,
  'registries: {a.example: {caFile: none.pem}}': /cannot read caFile "none.pem": ENOENT/,
  'registries: {a.example: {caFile: empty}}': /caFile "empty" has no certificate/,
};

describe('parseRegistrySettings()', () => {
  it('reads mirrors, insecure registries and authorities', () => {
    const text = `
registries:
  docker.io:
    mirrors: [https://mirror.example, "http://10.0.0.5:5000/hub"]
  registry.example:5000: {insecure: true}
  localhost: {caFile: ca.pem}
`;
    assert.deepEqual(
      [...parseRegistrySettings(text, readFile)],
      [
        [
          'docker.io',
          { mirrors: ['https://mirror.example', 'http://10.0.0.5:5000/hub'], isInsecure: false },
        ],
        ['registry.example:5000', { mirrors: [], isInsecure: true }],
        ['localhost', { mirrors: [], isInsecure: false, certificateAuthority: certificate }],
      ],
    );
  });

  for (const [text, message] of Object.entries(refused)) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      assert.throws(
        () => parseRegistrySettings(text, readFile),
        (error) => error instanceof RegistrySettingsError && message.test(error.message),
      ));
  }
});
