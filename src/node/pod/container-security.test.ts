import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { allCapabilities } from '../runtimes/sandbox/capabilities.ts';
import {
  type ContainerSecurity,
  containerSecurity,
  defaultSecurity,
} from './container-security.ts';

function resultOf(own: object, spec: object = {}): ReturnType<typeof containerSecurity> {
  const pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec } as Pod;
  return containerSecurity(pod, { name: 'app', securityContext: own } as Container);
}

function security(own: object, spec: object = {}): ContainerSecurity {
  const found = resultOf(own, spec);
  if ('problem' in found) throw new Error(found.problem);
  return found.security;
}

test('containerSecurity() has no dangerous capabilities by default', () => {
  assert.deepEqual(security({}), defaultSecurity);
  const names = [...defaultSecurity.capabilities];
  for (const dangerous of ['SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_MODULE', 'DAC_READ_SEARCH'])
    assert.ok(!names.some((name) => name === dangerous), dangerous);
});

test('containerSecurity() prefers fields of the container to those of the pod', () => {
  const pod = {
    securityContext: { runAsUser: 5, runAsGroup: 6, fsGroup: 7, supplementalGroups: [7, 8] },
  };
  const { uid, gid, groups } = security({ runAsUser: 9 }, pod);
  assert.deepEqual({ uid, gid, groups }, { uid: 9, gid: 6, groups: [7, 8] });
});

const capabilityCases: readonly (readonly [object, readonly string[], readonly string[]])[] = [
  [{ drop: ['ALL'] }, [], ['CHOWN', 'NET_RAW']],
  [{ drop: ['ALL'], add: ['NET_BIND_SERVICE'] }, ['NET_BIND_SERVICE'], ['CHOWN']],
  [{ drop: ['NET_RAW'] }, ['CHOWN'], ['NET_RAW']],
  [{ add: ['CAP_SYS_TIME'] }, ['SYS_TIME', 'CHOWN'], ['SYS_ADMIN']],
  [{ add: ['ALL'], drop: ['SYS_ADMIN'] }, ['NET_ADMIN'], ['SYS_ADMIN']],
];

for (const [capabilities, has, lacks] of capabilityCases) {
  test(`containerSecurity() adds and drops capabilities ${JSON.stringify(capabilities)}`, () => {
    const names = new Set<string>(security({ capabilities }).capabilities);
    assert.deepEqual(
      has.filter((name) => !names.has(name)),
      [],
    );
    assert.deepEqual(
      lacks.filter((name) => names.has(name)),
      [],
    );
  });
}

test('containerSecurity() gives a privileged container all capabilities and no seccomp filter', () => {
  const { capabilities, seccomp, hasNoNewPrivileges, hasUnmaskedProc } = security({
    privileged: true,
  });
  assert.deepEqual(capabilities, allCapabilities);
  assert.deepEqual([seccomp, hasNoNewPrivileges, hasUnmaskedProc], ['none', false, true]);
});

test('containerSecurity() follows seccompProfile, allowPrivilegeEscalation, procMount and host namespaces', () => {
  assert.equal(security({ seccompProfile: { type: 'Unconfined' } }).seccomp, 'none');
  const pod = { securityContext: { seccompProfile: { type: 'Unconfined' } } };
  assert.equal(security({ seccompProfile: { type: 'RuntimeDefault' } }, pod).seccomp, 'default');
  assert.equal(security({ allowPrivilegeEscalation: true }).hasNoNewPrivileges, false);
  assert.equal(security({ procMount: 'Unmasked' }).hasUnmaskedProc, true);
  const shared = security({}, { hostPID: true, hostIPC: true, shareProcessNamespace: true });
  assert.deepEqual([shared.hasHostPID, shared.hasHostIPC, shared.sharesPID], [true, true, true]);
});

const refusals: readonly (readonly [string, object, RegExp])[] = [
  [
    'root by default',
    { runAsNonRoot: true },
    /^container has runAsNonRoot and image will run as root/,
  ],
  [
    'root by name',
    { runAsNonRoot: true, runAsUser: 0 },
    /^container's runAsUser breaks non-root policy/,
  ],
  [
    'a Localhost seccomp profile',
    { seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } },
    /type Localhost is not supported/,
  ],
  [
    'AppArmor',
    { appArmorProfile: { type: 'Localhost', localhostProfile: 'a' } },
    /^Cannot enforce AppArmor/,
  ],
  ['SELinux', { seLinuxOptions: { level: 's0' } }, /^seLinuxOptions cannot be enforced/],
  ['an unknown capability', { capabilities: { add: ['FLY'] } }, /^unknown capability "FLY"/],
];

for (const [name, own, words] of refusals) {
  test(`containerSecurity() refuses ${name}`, () => {
    const found = resultOf(own);
    assert.match('problem' in found ? found.problem : '', words);
  });
}

test('containerSecurity() refuses hostUsers: false', () => {
  const found = containerSecurity(
    { metadata: {}, spec: { hostUsers: false } } as Pod,
    { name: 'app', securityContext: { procMount: 'Unmasked' } } as Container,
  );
  assert.deepEqual(found, { problem: 'RuntimeClass handler "" does not support user namespaces' });
});

const image = {
  users: {
    users: [{ name: 'app', uid: 1000, gid: 1001, home: '/home/app' }],
    groups: [{ name: 'staff', gid: 50, members: ['app'] }],
  },
};

test('containerSecurity() takes the user of the image where the spec says nothing', () => {
  const pod = {
    metadata: {},
    spec: { securityContext: { supplementalGroups: [7] } },
  } as unknown as Pod;
  const verdict = (own: object, more: object = {}, of: Pod = pod) =>
    containerSecurity(of, { name: 'app', securityContext: own } as Container, {
      ...image,
      ...more,
    });
  const found = verdict({}, { user: 'app' });
  assert.ok('security' in found);
  const { uid, gid, groups, home, hasNoNewPrivileges } = found.security;
  assert.deepEqual(
    { uid, gid, groups, home },
    { uid: 1000, gid: 1001, groups: [7, 50], home: '/home/app' },
  );
  // As Kubernetes: an image has set-user-id programs of its own.
  assert.equal(hasNoNewPrivileges, false);
  const strict = {
    metadata: {},
    spec: { securityContext: { supplementalGroups: [7], supplementalGroupsPolicy: 'Strict' } },
  } as unknown as Pod;
  const alone = verdict({ allowPrivilegeEscalation: false }, { user: 'app' }, strict);
  assert.ok('security' in alone);
  assert.deepEqual(alone.security.groups, [7]);
  assert.equal(alone.security.hasNoNewPrivileges, true);
});

const nonRootCases: readonly (readonly [string | undefined, string | undefined])[] = [
  [undefined, 'container has runAsNonRoot and image will run as root'],
  ['0:5', 'container has runAsNonRoot and image will run as root'],
  [
    'app',
    'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root',
  ],
  ['1000:app', undefined],
];

for (const [user, problem] of nonRootCases) {
  test(`containerSecurity() judges the image user ${user} for runAsNonRoot`, () => {
    const pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: {} } as Pod;
    const groups = [{ name: 'app', gid: 9, members: [] }];
    const found = containerSecurity(
      pod,
      { name: 'app', securityContext: { runAsNonRoot: true } } as Container,
      { users: { ...image.users, groups }, ...(user === undefined ? {} : { user }) },
    );
    assert.equal(
      'problem' in found ? found.problem : undefined,
      problem && `${problem} (pod: "web_default(u)", container: app)`,
    );
  });
}
