// The identity and privileges of a container: from its securityContext, the pod's, and defaults.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  type IdentityVerdict,
  type ImageUsers,
  imageIdentity,
  imageUserOf,
} from '../runtimes/oci/image-users.ts';
import {
  allCapabilities,
  type CapabilityName,
  type ChosenCapabilities,
  chooseCapabilities,
  defaultCapabilities,
} from '../runtimes/sandbox/capabilities.ts';
import { type KernelSetting, podSysctls } from './pod-admission.ts';

export type ContainerSecurity = {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** Home directory of the user. */
  readonly home: string;
  readonly capabilities: ReadonlySet<CapabilityName>;
  readonly isPrivileged: boolean;
  /** no_new_privs: programs never gain privileges. */
  readonly hasNoNewPrivileges: boolean;
  readonly seccomp: 'default' | 'none';
  readonly hasReadOnlyRoot: boolean;
  /** Nothing in /proc is masked or read-only. */
  readonly hasUnmaskedProc: boolean;
  readonly hasHostPID: boolean;
  readonly hasHostIPC: boolean;
  /** Containers of the pod share a process namespace. */
  readonly sharesPID: boolean;
  /** Sysctls of the pod's namespaces. */
  readonly settings: readonly KernelSetting[];
};

/** Of a container without a securityContext, in a pod without one. */
export const defaultSecurity: ContainerSecurity = {
  uid: 0,
  gid: 0,
  groups: [],
  home: '/root',
  capabilities: defaultCapabilities,
  isPrivileged: false,
  // Stricter than Kubernetes' default: containers see the machine's own set-user-id programs.
  hasNoNewPrivileges: true,
  seccomp: 'default',
  hasReadOnlyRoot: false,
  hasUnmaskedProc: false,
  hasHostPID: false,
  hasHostIPC: false,
  sharesPID: false,
  settings: [],
};

export type SecurityVerdict =
  | { readonly security: ContainerSecurity }
  | { readonly problem: string };

/** What the image says about the user of its containers. */
export type ImageSecurity = {
  /** `USER` of its configuration. */
  readonly user?: string;
  readonly users: ImageUsers;
};

/** Problems have the kubelet's messages, where it has one. */
export function containerSecurity(
  pod: Pod,
  container: Container,
  image?: ImageSecurity,
): SecurityVerdict {
  const own = container.securityContext ?? {};
  const podSecurity = pod.spec.securityContext ?? {};
  // Fields of the container take precedence.
  const both = { ...podSecurity, ...own };
  const problem =
    rootProblem(pod, container, both, image) ?? userNamespaceProblem(pod) ?? profileProblem(both);
  if (problem !== undefined) return { problem };
  const isPrivileged = own.privileged ?? false;
  const chosen = capabilitiesOf(own);
  if ('problem' in chosen) return chosen;
  const sysctls = podSysctls(pod);
  if ('forbidden' in sysctls) return { problem: sysctls.forbidden };
  const isUnconfined = both.seccompProfile?.type === 'Unconfined';
  const found = identityOf(both, image);
  if ('problem' in found) return found;
  const { uid, gid, groups, home } = found.identity;
  return {
    security: {
      ...{ uid, gid, home },
      groups: groupsOf(podSecurity, groups),
      capabilities: chosen.capabilities,
      isPrivileged,
      hasNoNewPrivileges: !isPrivileged && !mayEscalate(own, image),
      seccomp: isPrivileged || isUnconfined ? 'none' : 'default',
      hasReadOnlyRoot: own.readOnlyRootFilesystem ?? false,
      hasUnmaskedProc: isPrivileged || own.procMount === 'Unmasked',
      ...sharing(pod),
      settings: sysctls.settings,
    },
  };
}

const capabilitiesOf = ({ privileged, capabilities = {} }: OwnSecurity): ChosenCapabilities =>
  privileged === true ? { capabilities: allCapabilities } : chooseCapabilities(capabilities);

/** Kubernetes' default for images, with set-user-id programs of their own. Stricter for those of this machine. */
const mayEscalate = (
  { allowPrivilegeEscalation }: OwnSecurity,
  image: ImageSecurity | undefined,
): boolean => allowPrivilegeEscalation ?? image !== undefined;

function identityOf(
  { runAsUser, runAsGroup }: PodSecurity & OwnSecurity,
  image: ImageSecurity | undefined,
): IdentityVerdict {
  if (image === undefined) {
    const uid = Number(runAsUser ?? defaultSecurity.uid);
    const gid = Number(runAsGroup ?? defaultSecurity.gid);
    return { identity: { uid, gid, groups: [], home: uid === 0 ? '/root' : '/' } };
  }
  return imageIdentity(image.users, {
    ...(image.user === undefined ? {} : { imageUser: image.user }),
    ...(runAsUser === undefined ? {} : { runAsUser: Number(runAsUser) }),
    ...(runAsGroup === undefined ? {} : { runAsGroup: Number(runAsGroup) }),
  });
}

function sharing({ spec }: Pod) {
  return {
    hasHostPID: spec.hostPID ?? false,
    hasHostIPC: spec.hostIPC ?? false,
    sharesPID: spec.shareProcessNamespace ?? false,
  };
}

function rootProblem(
  { metadata }: Pod,
  { name }: Container,
  { runAsNonRoot = false, runAsUser }: PodSecurity & OwnSecurity,
  image: ImageSecurity | undefined,
): string | undefined {
  if (!runAsNonRoot) return undefined;
  const of = `(pod: "${metadata.name}_${metadata.namespace}(${metadata.uid})", container: ${name})`;
  if (runAsUser !== undefined) {
    return Number(runAsUser) === 0
      ? `container's runAsUser breaks non-root policy ${of}`
      : undefined;
  }
  const user = imageUserOf(image?.user);
  if (user.name !== undefined)
    return `container has runAsNonRoot and image has non-numeric user (${user.name}), cannot verify user is non-root ${of}`;
  return (user.uid ?? 0) === 0
    ? `container has runAsNonRoot and image will run as root ${of}`
    : undefined;
}

/**
 * PodSecurity admission allows more to a pod with a user namespace: root, and an unmasked /proc. Without one that would be root of the
 * node. The message is the kubelet's for a runtime without user namespaces.
 */
function userNamespaceProblem({ spec }: Pod): string | undefined {
  if (spec.hostUsers !== false) return undefined;
  return `RuntimeClass handler ${JSON.stringify(spec.runtimeClassName ?? '')} does not support user namespaces`;
}

type PodSecurity = NonNullable<Pod['spec']['securityContext']>;
type OwnSecurity = NonNullable<Container['securityContext']>;

/** With the policy Strict, only those of the spec. */
function groupsOf(
  { supplementalGroups = [], fsGroup, supplementalGroupsPolicy }: PodSecurity,
  ofImage: readonly number[],
): readonly number[] {
  const own = [...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])].map(Number);
  return [...new Set([...own, ...(supplementalGroupsPolicy === 'Strict' ? [] : ofImage)])];
}

/** Unsupported profiles are refused, not ignored. */
function profileProblem(security: PodSecurity & OwnSecurity): string | undefined {
  const { seccompProfile, appArmorProfile, seLinuxOptions = {} } = security;
  if (seccompProfile?.type === 'Localhost') {
    return `seccompProfile ${JSON.stringify(seccompProfile.localhostProfile ?? '')} of type Localhost is not supported by this node; RuntimeDefault and Unconfined are`;
  }
  if (appArmorProfile?.type === 'Localhost') {
    return 'Cannot enforce AppArmor: profiles of type Localhost are not supported by this node';
  }
  if (Object.keys(seLinuxOptions).length > 0)
    return 'seLinuxOptions cannot be enforced by this node: it does not set labels';
  return undefined;
}
