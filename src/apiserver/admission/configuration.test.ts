import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAdmissionConfiguration } from './configuration.ts';

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n';
const podSecurity = `apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: { enforce: baseline, enforce-version: v1.30, warn: restricted }
exemptions: { namespaces: [kube-system], usernames: ['system:node:a'], runtimeClasses: [kata] }
`;
const inline = `${head}plugins:\n- name: PodSecurity\n  configuration:\n    ${podSecurity.replaceAll('\n', '\n    ')}`;

const read = (text: string) =>
  parseAdmissionConfiguration(text, 'file.yaml', (path) =>
    path === 'other.yaml' ? Promise.resolve(podSecurity) : Promise.reject(new Error(path)),
  );

const expected = {
  podSecurity: {
    defaults: {
      enforce: { level: 'baseline', version: 30 },
      audit: { level: 'privileged', version: 'latest' },
      warn: { level: 'restricted', version: 'latest' },
    },
    exemptions: {
      namespaces: ['kube-system'],
      usernames: ['system:node:a'],
      runtimeClasses: ['kata'],
    },
  },
};

test('parseAdmissionConfiguration() reads settings from the file itself', async () => {
  assert.deepEqual(await read(inline), expected);
});

test('parseAdmissionConfiguration() reads settings from another file', async () => {
  const text = `${head}plugins: [{ name: PodSecurity, path: other.yaml }]`;
  assert.deepEqual(await read(text), expected);
});

const bad: readonly (readonly [string, string, RegExp])[] = [
  ['another kind', 'kind: Pod', /must be an AdmissionConfiguration/],
  ['an unknown field', `${head}more: 1`, /unknown field "more"/],
  ['no YAML', '{', /Cannot use the admission configuration "file.yaml"/],
  ['another plugin', `${head}plugins: [{ name: X, configuration: {} }]`, /"X" takes no config/],
  ['a bad level', inline.replace('baseline', 'strict'), /enforce: must be one of privileged/],
  [
    'a bad version',
    inline.replace('v1.30', 'v2.30'),
    /enforce-version: must be "latest" or "v1.x"/,
  ],
  ['a name twice', inline.replace('[kata]', '[kata, kata]'), /"kata": is there twice/],
  ['no name', inline.replace("'system:node:a'", "''"), /usernames\[0\]: "": must not be empty/],
  ['no configuration', `${head}plugins: [{ name: PodSecurity }]`, /must be a map/],
];

for (const [title, text, message] of bad) {
  test(`parseAdmissionConfiguration() refuses ${title}`, async () => {
    await assert.rejects(read(text), message);
  });
}
