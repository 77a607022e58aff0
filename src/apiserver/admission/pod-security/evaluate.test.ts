import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../../kinds/pod/pod-spec.ts';
import { detailsText, newestVersion, violationsOf } from './evaluate.ts';
import type { Level, Version } from './policy.ts';

type Case = {
  readonly title: string;
  readonly level?: Exclude<Level, 'privileged'>;
  readonly version?: Version;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: object;
  readonly found: string;
};

const c = (securityContext: object, name = 'c') => ({ name, image: 'i', securityContext });
const one = (securityContext: object) => ({ containers: [c(securityContext)] });
/** All that the restricted level asks of a pod. */
const good = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const plain = { containers: [{ name: 'c', image: 'i' }] };
const probe = (host: string) => ({ httpGet: { port: 80, host } });

const cases: readonly Case[] = [
  { title: 'a plain pod', spec: plain, found: '' },
  {
    title: 'privileged containers of every list',
    spec: {
      initContainers: [c({ privileged: true }, 'a')],
      containers: [c({ privileged: true }, 'b'), c({ privileged: false }, 'x')],
      ephemeralContainers: [c({ privileged: true }, 'e')],
    },
    found: 'privileged (containers "a", "b", "e" must not set securityContext.privileged=true)',
  },
  {
    title: 'all namespaces of the host',
    spec: { ...plain, hostIPC: true, hostPID: true, hostNetwork: true },
    found: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  },
  {
    title: 'one hostPath volume',
    spec: { ...plain, volumes: [{ name: 'h', hostPath: { path: '/' } }] },
    found: 'hostPath volumes (volume "h")',
  },
  {
    title: 'host ports in the order of texts, each once',
    spec: {
      containers: [
        { name: 'a', ports: [{ containerPort: 1, hostPort: 9 }] },
        {
          name: 'b',
          ports: [
            { containerPort: 1, hostPort: 9 },
            { containerPort: 1, hostPort: 80 },
            { containerPort: 1 },
          ],
        },
      ],
    },
    found: 'hostPort (containers "a", "b" use hostPorts 80, 9)',
  },
  {
    title: 'capabilities beyond the default ones, and NET_RAW',
    spec: { containers: [c({ capabilities: { add: ['SYS_ADMIN', 'NET_RAW', 'KILL'] } })] },
    found:
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    title: 'AppArmor profiles of pod, container and annotation',
    annotations: {
      'container.apparmor.security.beta.kubernetes.io/c': 'unconfined',
      'container.apparmor.security.beta.kubernetes.io/d': 'localhost/x',
      'container.apparmor.security.beta.kubernetes.io/e': '',
    },
    spec: {
      securityContext: { appArmorProfile: { type: 'Unconfined' } },
      containers: [
        c({ appArmorProfile: { type: 'Unconfined' } }),
        c({ appArmorProfile: { type: 'Localhost' } }, 'd'),
      ],
    },
    found:
      'forbidden AppArmor profiles (pod and container "c" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  },
  {
    title: 'SELinux types, users and roles',
    spec: {
      securityContext: { seLinuxOptions: { type: 'foo', user: 'u' } },
      containers: [
        c({ seLinuxOptions: { type: 'container_t' } }, 'a'),
        c({ seLinuxOptions: { type: 'container_engine_t' } }, 'b'),
        c({ seLinuxOptions: { role: 'r' } }, 'd'),
      ],
    },
    found:
      'seLinuxOptions (pod and container "d" set forbidden securityContext.seLinuxOptions: type "foo"; user may not be set; role may not be set)',
  },
  {
    title: 'a SELinux type before it was known',
    version: 30,
    spec: one({ seLinuxOptions: { type: 'container_engine_t' } }),
    found:
      'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  },
  {
    title: 'an unmasked /proc',
    spec: one({ procMount: 'Unmasked' }),
    found: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    title: 'an unmasked /proc in a user namespace',
    spec: { ...one({ procMount: 'Unmasked' }), hostUsers: false },
    found: '',
  },
  {
    title: 'an unmasked /proc in a user namespace before v1.35',
    version: 34,
    spec: { ...one({ procMount: 'Unmasked' }), hostUsers: false },
    found: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    title: 'an unmasked /proc in a user namespace, restricted',
    level: 'restricted',
    spec: { ...one({ ...good, procMount: 'Unmasked' }), hostUsers: false },
    found: 'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  },
  {
    title: 'no seccomp',
    spec: {
      securityContext: { seccompProfile: { type: 'Unconfined' } },
      containers: [c({ seccompProfile: { type: 'Unconfined' } })],
    },
    found:
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    title: 'seccomp by annotation before v1.19',
    version: 18,
    annotations: {
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
      'container.seccomp.security.alpha.kubernetes.io/c': 'x',
      'container.seccomp.security.alpha.kubernetes.io/other': 'x',
    },
    spec: { ...plain, securityContext: { seccompProfile: { type: 'Unconfined' } } },
    found:
      'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/c="x", seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  },
  ...(
    [
      ['net.ipv4.ip_local_reserved_ports', 26, 27],
      ['net.ipv4.tcp_keepalive_time', 28, 29],
      ['net.ipv4.tcp_rmem', 31, 32],
    ] as const
  ).flatMap(([name, before, since]): readonly Case[] => {
    const spec = { ...plain, securityContext: { sysctls: [{ name, value: '1' }] } };
    return [
      { title: `${name}, too early`, version: before, spec, found: `forbidden sysctls (${name})` },
      { title: `${name}, from then on`, version: since, spec, found: '' },
    ];
  }),
  {
    title: 'sysctls in the order given',
    spec: {
      ...plain,
      securityContext: {
        sysctls: ['z.a', 'kernel.shm_rmid_forced', 'a.z'].map((name) => ({ name, value: '1' })),
      },
    },
    found: 'forbidden sysctls (z.a, a.z)',
  },
  {
    title: 'processes of a Windows host',
    spec: {
      securityContext: { windowsOptions: { hostProcess: true } },
      containers: [c({ windowsOptions: { hostProcess: true } })],
    },
    found:
      'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
  },
  {
    title: 'probes and hooks that ask other hosts',
    spec: {
      containers: [
        { name: 'b', livenessProbe: probe('10.0.0.1'), readinessProbe: probe('') },
        {
          name: 'a',
          lifecycle: { preStop: { tcpSocket: { port: 1, host: 'x' } }, postStart: probe('x') },
        },
      ],
    },
    found:
      'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "10.0.0.1", "x")',
  },
  {
    title: 'probes that ask other hosts before v1.34',
    version: 33,
    spec: { containers: [{ name: 'b', livenessProbe: probe('10.0.0.1') }] },
    found: '',
  },
  { title: 'a good pod', level: 'restricted', spec: one(good), found: '' },
  {
    title: 'volumes of other types',
    level: 'restricted',
    spec: {
      ...one(good),
      volumes: [
        { name: 'a', nfs: { server: 's', path: '/' } },
        { name: 'b', hostPath: { path: '/' } },
        { name: 'i', image: { reference: 'r' } },
        { name: 'e', emptyDir: {} },
      ],
    },
    found:
      'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
  },
  {
    title: 'capabilities kept, and others added',
    level: 'restricted',
    spec: {
      containers: [
        c({ ...good, capabilities: { drop: ['KILL'], add: ['CHOWN'] } }, 'a'),
        c({ ...good, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }, 'b'),
      ],
    },
    found:
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  },
  {
    title: 'added capabilities before the restricted level had a rule of its own',
    level: 'restricted',
    version: 21,
    spec: one({ ...good, capabilities: { add: ['SYS_ADMIN'] } }),
    found:
      'non-default capabilities (container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    title: 'root by the pod and a container',
    level: 'restricted',
    spec: {
      securityContext: { runAsNonRoot: false, runAsUser: 0 },
      containers: [c({ ...good, runAsNonRoot: false, runAsUser: 0 })],
    },
    found:
      'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and container "c" must not set runAsUser=0)',
  },
  {
    title: 'user 0 before v1.23',
    level: 'restricted',
    version: 22,
    spec: one({ ...good, runAsUser: 0 }),
    found: '',
  },
  {
    title: 'root in a user namespace before v1.35',
    level: 'restricted',
    version: 34,
    spec: { ...one({ ...good, runAsNonRoot: undefined }), hostUsers: false },
    found: 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  },
  {
    title: 'a plain Windows pod before v1.25',
    level: 'restricted',
    version: 24,
    spec: { ...one({ runAsNonRoot: true }), os: { name: 'windows' } },
    found:
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
  {
    title: 'what v1.0 did not check',
    level: 'restricted',
    version: 0,
    spec: one({ runAsNonRoot: true }),
    found: '',
  },
  {
    title: 'a seccomp profile that is there and bad, restricted',
    level: 'restricted',
    spec: one({ ...good, seccompProfile: { type: 'Unconfined' } }),
    found:
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  },
];

for (const { title, level = 'baseline', version = 'latest', annotations = {}, ...it } of cases) {
  test(`violationsOf() ${level}:${version}: ${title}`, () => {
    const pod = { annotations, spec: it.spec as PodSpec };
    assert.equal(detailsText(violationsOf({ level, version }, pod)), it.found);
  });
}

test('violationsOf() asks nothing of the privileged level', () => {
  const spec = { containers: [], hostPID: true } as unknown as PodSpec;
  const pod = { annotations: {}, spec };
  assert.deepEqual(violationsOf({ level: 'privileged', version: 'latest' }, pod), []);
});

test('violationsOf() takes versions to come as the newest it knows', () => {
  const pod = { annotations: {}, spec: one({}) as unknown as PodSpec };
  const at = (version: Version) => violationsOf({ level: 'restricted', version }, pod);
  assert.deepEqual(at(99), at('latest'));
  assert.deepEqual(at(newestVersion), at('latest'));
  assert.equal(newestVersion, 35);
});
