import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from './example.ts';
import { ephemeralContainerDiff, internalForm, podSpecDiff } from './internal-form.ts';
import { podSpec } from './pod-spec.ts';
import { volume } from './volume.ts';

const spec = examplePod({ spec: { nodeName: 'n' } }).spec;

const changes: readonly (readonly [name: string, change: object, wanted: string])[] = [
  [
    'a text',
    { nodeName: 'm' },
    `@@ -42,7 +42,7 @@
  "NodeSelector": null,
  "ServiceAccountName": "",
  "AutomountServiceAccountToken": null,
- "NodeName": "n",
+ "NodeName": "m",
  "SecurityContext": {
   "HostNetwork": false,
   "HostPID": false,
`,
  ],
  [
    'what the security context holds in memory',
    { hostNetwork: true },
    `@@ -44,7 +44,7 @@
  "AutomountServiceAccountToken": null,
  "NodeName": "n",
  "SecurityContext": {
-  "HostNetwork": false,
+  "HostNetwork": true,
   "HostPID": false,
   "HostIPC": false,
   "ShareProcessNamespace": null,
`,
  ],
  [
    'a struct in a list',
    { hostAliases: [{ ip: '1.2.3.4', hostnames: ['<a>'] }] },
    `@@ -70,7 +70,14 @@
  "Affinity": null,
  "SchedulerName": "default-scheduler",
  "Tolerations": null,
- "HostAliases": null,
+ "HostAliases": [
+  {
+   "IP": "1.2.3.4",
+   "Hostnames": [
+    "\\u003ca\\u003e"
+   ]
+  }
+ ],
  "PriorityClassName": "",
  "Priority": null,
  "PreemptionPolicy": null,
`,
  ],
  [
    'a map',
    { nodeSelector: { '10': 'a', '9': 'b' } },
    `@@ -39,7 +39,10 @@
  "TerminationGracePeriodSeconds": 30,
  "ActiveDeadlineSeconds": null,
  "DNSPolicy": "ClusterFirst",
- "NodeSelector": null,
+ "NodeSelector": {
+  "10": "a",
+  "9": "b"
+ },
  "ServiceAccountName": "",
  "AutomountServiceAccountToken": null,
  "NodeName": "n",
`,
  ],
];

for (const [name, change, wanted] of changes) {
  test(`podSpecDiff() shows ${name}`, () => {
    assert.equal(podSpecDiff(spec, { ...spec, ...change }), wanted);
  });
}

test('podSpecDiff() shows nothing for the older name of a field', () => {
  assert.equal(podSpecDiff(spec, { ...spec, serviceAccount: 'x' }), '');
});

test('ephemeralContainerDiff() shows the changed field', () => {
  const container = { name: 'e', image: 'i', resources: {} };
  const shown = ephemeralContainerDiff(container, { ...container, tty: true });
  assert.match(shown, /^@@ -27,6 \+27,6 @@\n {2}"SecurityContext": null,\n/);
  assert.match(shown, /\n- "TTY": false,\n\+ "TTY": true,\n {2}"TargetContainerName": ""\n }\n$/);
});

test('internalForm() has the field order of the internal types', () => {
  const names = Object.keys(internalForm(podSpec, {}));
  const after = (name: string) => names[names.indexOf(name) + 1];
  assert.equal(after('Subdomain'), 'SetHostnameAsFQDN');
  assert.equal(after('Priority'), 'PreemptionPolicy');
  assert.equal(after('RuntimeClassName'), 'Overhead');
  assert.equal(after('Overhead'), 'EnableServiceLinks');
  const sources = Object.keys(internalForm(volume, { name: 'v' }));
  assert.equal(sources[sources.indexOf('RBD') + 1], 'Quobyte');
});

test('internalForm() writes zero values, and metadata as clients know it', () => {
  const claim = { metadata: { labels: { a: 'b' } }, spec: {} };
  const form = internalForm(volume, { name: 'v', ephemeral: { volumeClaimTemplate: claim } });
  assert.deepEqual(form.Ephemeral, {
    VolumeClaimTemplate: {
      labels: { a: 'b' },
      Spec: {
        AccessModes: null,
        Selector: null,
        Resources: { Limits: null, Requests: null },
        VolumeName: '',
        StorageClassName: null,
        VolumeMode: null,
        DataSource: null,
        DataSourceRef: null,
        VolumeAttributesClassName: null,
      },
    },
  });
});
