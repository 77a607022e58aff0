// Under which identity and with which rights a container runs: its securityContext, the pod's, and what holds where both are silent.
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  allCapabilities,
  type CapabilityName,
  type ChosenCapabilities,
  chooseCapabilities,
  defaultCapabilities,
} from '../runtimes/sandbox/capabilities.ts';
import { type KernelSetting, podSysctls } from './pod-sysctls.ts';

export type ContainerSecurity = {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly capabilities: ReadonlySet<CapabilityName>;
  readonly isPrivileged: boolean;
  /** Its programs never get more rights than they have. */
  readonly hasNoNewPrivileges: boolean;
  readonly seccomp: 'default' | 'none';
  readonly hasReadOnlyRoot: boolean;
  /** Nothing of /proc is hidden or protected. */
  readonly hasWholeProc: boolean;
  readonly hasHostProcesses: boolean;
  readonly hasHostMessages: boolean;
  /** Containers of the pod see each other's processes. */
  readonly sharesProcesses: boolean;
  /** Of the pod's namespaces. */
  readonly settings: readonly KernelSetting[];
};

/** Of a container that says nothing, in a pod that says nothing. */
export const defaultSecurity: ContainerSecurity = {
  uid: 0,
  gid: 0,
  groups: [],
  capabilities: defaultCapabilities,
  isPrivileged: false,
  // Kubernetes allows it where nobody says anything. A pod of processes has the machine's own set-user-id programs before it.
  hasNoNewPrivileges: true,
  seccomp: 'default',
  hasReadOnlyRoot: false,
  hasWholeProc: false,
  hasHostProcesses: false,
  hasHostMessages: false,
  sharesProcesses: false,
  settings: [],
};

export type SecurityVerdict =
  | { readonly security: ContainerSecurity }
  | { readonly problem: string };

/** A problem is told in the words of a kubelet, where it has some. */
export function containerSecurity(pod: Pod, container: Container): SecurityVerdict {
  const own = container.securityContext ?? {};
  const ofPod = pod.spec.securityContext ?? {};
  // What the container says counts before what the pod says.
  const both = { ...ofPod, ...own };
  const problem =
    rootProblem(pod, container, both) ?? userNamespaceProblem(pod) ?? profileProblem(both);
  if (problem !== undefined) return { problem };
  const isPrivileged = own.privileged ?? false;
  const chosen = capabilitiesOf(own);
  if ('problem' in chosen) return chosen;
  const sysctls = podSysctls(pod);
  if ('forbidden' in sysctls) return { problem: sysctls.forbidden };
  const isUnconfined = both.seccompProfile?.type === 'Unconfined';
  return {
    security: {
      uid: Number(both.runAsUser ?? defaultSecurity.uid),
      gid: Number(both.runAsGroup ?? defaultSecurity.gid),
      groups: groupsOf(ofPod),
      capabilities: chosen.capabilities,
      isPrivileged,
      hasNoNewPrivileges: !isPrivileged && own.allowPrivilegeEscalation !== true,
      seccomp: isPrivileged || isUnconfined ? 'none' : 'default',
      hasReadOnlyRoot: own.readOnlyRootFilesystem ?? false,
      hasWholeProc: isPrivileged || own.procMount === 'Unmasked',
      ...sharing(pod),
      settings: sysctls.settings,
    },
  };
}

const capabilitiesOf = ({ privileged, capabilities = {} }: OwnSecurity): ChosenCapabilities =>
  privileged === true ? { capabilities: allCapabilities } : chooseCapabilities(capabilities);

function sharing({ spec }: Pod) {
  return {
    hasHostProcesses: spec.hostPID ?? false,
    hasHostMessages: spec.hostIPC ?? false,
    sharesProcesses: spec.shareProcessNamespace ?? false,
  };
}

function rootProblem(
  { metadata }: Pod,
  { name }: Container,
  { runAsNonRoot = false, runAsUser }: PodSecurity & OwnSecurity,
): string | undefined {
  if (!runAsNonRoot || Number(runAsUser ?? 0) !== 0) return undefined;
  const of = `(pod: "${metadata.name}_${metadata.namespace}(${metadata.uid})", container: ${name})`;
  return runAsUser === undefined
    ? `container has runAsNonRoot and image will run as root ${of}`
    : `container's runAsUser breaks non-root policy ${of}`;
}

/**
 * PodSecurity allows more to a pod with a user namespace: root, and all of /proc. Without one that would be root of the node,
 * who writes the node's kernel settings. The words are a kubelet's whose runtime has no user namespaces.
 */
function userNamespaceProblem({ spec }: Pod): string | undefined {
  if (spec.hostUsers !== false) return undefined;
  return `RuntimeClass handler ${JSON.stringify(spec.runtimeClassName ?? '')} does not support user namespaces`;
}

type PodSecurity = NonNullable<Pod['spec']['securityContext']>;
type OwnSecurity = NonNullable<Container['securityContext']>;

function groupsOf({ supplementalGroups = [], fsGroup }: PodSecurity): readonly number[] {
  return [...new Set([...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])])].map(
    Number,
  );
}

/** What is asked for and cannot be had is refused, not passed over. */
function profileProblem(asked: PodSecurity & OwnSecurity): string | undefined {
  const { seccompProfile, appArmorProfile, seLinuxOptions = {} } = asked;
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
