// The checks of the baseline level, against known privilege escalations.
import {
  containerAppArmorPrefix,
  containerSeccompPrefix,
  podSeccompAnnotation,
} from '../../../meta/well-known-annotations.ts';
import { goQuote } from '../../../schema/go-quote.ts';
import {
  type Check,
  type CheckedPod,
  containersOf,
  containersText,
  containersWith,
  plural,
  quoted,
  type RunCheck,
  settersText,
  settersViolation,
  sorted,
} from './check.ts';
import { hostProbes } from './host-probes.ts';
import { seLinuxOptions } from './selinux-options.ts';

/** Settings that touch the pod alone, and since which minor they are known to. */
const safeSysctls: readonly (readonly [number, string])[] = [
  [0, 'kernel.shm_rmid_forced'],
  [0, 'net.ipv4.ip_local_port_range'],
  [0, 'net.ipv4.tcp_syncookies'],
  [0, 'net.ipv4.ping_group_range'],
  [0, 'net.ipv4.ip_unprivileged_port_start'],
  [27, 'net.ipv4.ip_local_reserved_ports'],
  [29, 'net.ipv4.tcp_keepalive_time'],
  [29, 'net.ipv4.tcp_fin_timeout'],
  [29, 'net.ipv4.tcp_keepalive_intvl'],
  [29, 'net.ipv4.tcp_keepalive_probes'],
  [32, 'net.ipv4.tcp_rmem'],
  [32, 'net.ipv4.tcp_wmem'],
];

export const baselineChecks: readonly Check[] = [
  baseline('appArmorProfile', [[0, appArmorProfile]]),
  baseline('capabilities_baseline', [[0, addedCapabilities]]),
  baseline('hostNamespaces', [[0, hostNamespaces]]),
  baseline('hostPathVolumes', [[0, hostPathVolumes]]),
  baseline('hostPorts', [[0, hostPorts]]),
  baseline('hostProbesAndHostLifecycle', [[34, hostProbes]]),
  baseline('privileged', [[0, privilegedContainers]]),
  baseline('procMount', [
    [0, procMount],
    [35, (pod) => (hasUserNamespace(pod) ? undefined : procMount(pod))],
  ]),
  baseline('seLinuxOptions', [
    [0, seLinuxOptions(['container_t', 'container_init_t', 'container_kvm_t'])],
    [
      31,
      seLinuxOptions(['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']),
    ],
  ]),
  baseline('seccompProfile_baseline', [
    [0, seccompAnnotations],
    [19, seccompProfiles],
  ]),
  baseline('sysctls', [
    [0, sysctls(0)],
    [27, sysctls(27)],
    [29, sysctls(29)],
    [32, sysctls(32)],
  ]),
  baseline('windowsHostProcess', [[0, hostProcess]]),
];

function baseline(id: string, versions: readonly (readonly [number, RunCheck])[]): Check {
  return {
    ...{ id, level: 'baseline' },
    versions: versions.map(([since, run]) => ({ since, run })),
  };
}

/** In a user namespace, root has no privileges outside. */
export const hasUserNamespace = ({ spec }: CheckedPod): boolean => spec.hostUsers === false;

const isProfile = (type: string | undefined): boolean =>
  type === 'RuntimeDefault' || type === 'Localhost';

function appArmorProfile(pod: CheckedPod) {
  const { appArmorProfile: own } = pod.spec.securityContext ?? {};
  const isPodBad = own !== undefined && !isProfile(own.type);
  const types = isPodBad ? [own.type] : [];
  const names = containersWith(pod, ({ appArmorProfile: profile }) => {
    if (profile === undefined || isProfile(profile.type)) return false;
    types.push(profile.type);
    return true;
  });
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(containerAppArmorPrefix) && !isAppArmorValue(value))
    .map(([key, value]) => `${key}=${goQuote(value)}`);
  const values = [...sorted(types), ...sorted(annotations)];
  const setters = [
    settersText(isPodBad, names),
    ...(annotations.length > 0 ? [plural('annotation', 'annotations', annotations.length)] : []),
  ].filter((text) => text !== '');
  const reason = plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length);
  const rest = `must not set AppArmor profile type to ${quoted(values)}`;
  return settersViolation(reason, setters.join(' and '), rest);
}

const isAppArmorValue = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/');

/** Those that a container has by default; NET_RAW is not among them. */
const defaultCapabilities: ReadonlySet<string> = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD'],
  ...['NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]);

function addedCapabilities(pod: CheckedPod) {
  const found: string[] = [];
  const names = containersWith(pod, ({ capabilities }) => {
    const added = (capabilities?.add ?? []).filter((one) => !defaultCapabilities.has(one));
    for (const one of added) found.push(one);
    return added.length > 0;
  });
  const rest = `must not include ${quoted(sorted(found))} in securityContext.capabilities.add`;
  return settersViolation('non-default capabilities', settersText(false, names), rest);
}

function hostNamespaces({ spec }: CheckedPod) {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
}

function hostPathVolumes({ spec }: CheckedPod) {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const detail = `${plural('volume', 'volumes', names.length)} ${quoted(names)}`;
  return { reason: 'hostPath volumes', detail };
}

function hostPorts(pod: CheckedPod) {
  const ports: string[] = [];
  const names = containersOf(pod)
    .filter((container) => {
      const used = (container.ports ?? []).filter(({ hostPort }) => hostPort);
      for (const { hostPort } of used) ports.push(String(hostPort));
      return used.length > 0;
    })
    .map(({ name }) => name);
  if (names.length === 0) return undefined;
  const found = sorted(ports);
  const uses = plural('uses', 'use', names.length);
  const what = plural('hostPort', 'hostPorts', found.length);
  return {
    reason: 'hostPort',
    detail: `${containersText(names)} ${uses} ${what} ${found.join(', ')}`,
  };
}

function privilegedContainers(pod: CheckedPod) {
  const names = containersWith(pod, (context) => context.privileged === true);
  const rest = 'must not set securityContext.privileged=true';
  return settersViolation('privileged', settersText(false, names), rest);
}

export function procMount(pod: CheckedPod) {
  const types: string[] = [];
  const names = containersWith(pod, ({ procMount: type }) => {
    if (type === undefined || type === 'Default') return false;
    types.push(type);
    return true;
  });
  const rest = `must not set securityContext.procMount to ${quoted(sorted(types))}`;
  return settersViolation('procMount', settersText(false, names), rest);
}

export const containerSeccomp = (name: string): string => `${containerSeccompPrefix}${name}`;

/** Before there was a field. */
function seccompAnnotations(pod: CheckedPod) {
  const keys = [
    podSeccompAnnotation,
    ...containersOf(pod).map(({ name }) => containerSeccomp(name)),
  ];
  const found = keys.flatMap((key) => {
    const value = pod.annotations[key];
    return value === undefined || isSeccompValue(value) ? [] : [`${key}=${goQuote(value)}`];
  });
  const bad = sorted(found);
  if (bad.length === 0) return undefined;
  const what = plural('annotation', 'annotations', bad.length);
  return { reason: 'seccompProfile', detail: `forbidden ${what} ${bad.join(', ')}` };
}

const isSeccompValue = (value: string): boolean =>
  ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/');

/** A profile may be absent, but not Unconfined. */
export function seccompProfiles(pod: CheckedPod) {
  const { seccompProfile: own } = pod.spec.securityContext ?? {};
  const isPodBad = own !== undefined && !isProfile(own.type);
  const types = isPodBad ? [own.type] : [];
  const names = containersWith(pod, ({ seccompProfile: profile }) => {
    if (profile === undefined || isProfile(profile.type)) return false;
    types.push(profile.type);
    return true;
  });
  const rest = `must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`;
  return settersViolation('seccompProfile', settersText(isPodBad, names), rest);
}

function sysctls(version: number): RunCheck {
  const safe = new Set(safeSysctls.filter(([since]) => since <= version).map(([, name]) => name));
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name);
    const bad = names.filter((name) => !safe.has(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
}

function hostProcess(pod: CheckedPod) {
  const isPodBad = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const names = containersWith(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true);
  const rest = 'must not set securityContext.windowsOptions.hostProcess=true';
  return settersViolation('hostProcess', settersText(isPodBad, names), rest);
}
