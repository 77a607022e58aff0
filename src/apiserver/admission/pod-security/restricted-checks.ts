// The checks of the restricted level: what a pod that follows good practice says of itself.
import { volumeSources } from '../../../kinds/pod/volume.ts';
import { hasUserNamespace, procMount, seccompProfiles } from './baseline-checks.ts';
import {
  type Check,
  type CheckedPod,
  containersText,
  containersWith,
  plural,
  quoted,
  type RunCheck,
  settersText,
  settersViolation,
  sorted,
  type Violation,
} from './check.ts';

export const restrictedChecks: readonly Check[] = [
  restricted('allowPrivilegeEscalation', [
    [8, allowPrivilegeEscalation],
    [25, unlessWindows(allowPrivilegeEscalation)],
  ]),
  restricted(
    'capabilities_restricted',
    [
      [22, capabilities],
      [25, unlessWindows(capabilities)],
    ],
    ['capabilities_baseline'],
  ),
  restricted('procMount_restricted', [[35, procMount]], ['procMount']),
  restricted('restrictedVolumes', [[0, restrictedVolumes]], ['hostPathVolumes']),
  restricted('runAsNonRoot', [
    [0, runAsNonRoot],
    [35, unlessUserNamespace(runAsNonRoot)],
  ]),
  restricted('runAsUser', [
    [23, runAsUser],
    [35, unlessUserNamespace(runAsUser)],
  ]),
  restricted(
    'seccompProfile_restricted',
    [
      [19, seccompRequired],
      [25, unlessWindows(seccompRequired)],
    ],
    ['seccompProfile_baseline'],
  ),
];

function restricted(
  id: string,
  versions: readonly (readonly [number, RunCheck])[],
  overrides: readonly string[] = [],
): Check {
  return {
    ...{ id, level: 'restricted', overrides },
    versions: versions.map(([since, run]) => ({ since, run })),
  };
}

/** The fields are of Linux, and validation refuses them there. */
function unlessWindows(run: RunCheck): RunCheck {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : run(pod));
}

function unlessUserNamespace(run: RunCheck): RunCheck {
  return (pod) => (hasUserNamespace(pod) ? undefined : run(pod));
}

function allowPrivilegeEscalation(pod: CheckedPod) {
  const names = containersWith(pod, (context) => context.allowPrivilegeEscalation !== false);
  const rest = 'must set securityContext.allowPrivilegeEscalation=false';
  return settersViolation('allowPrivilegeEscalation != false', settersText(false, names), rest);
}

function capabilities(pod: CheckedPod): Violation | undefined {
  const keeping = containersWith(pod, (context) => !context.capabilities?.drop?.includes('ALL'));
  const found: string[] = [];
  const adding = containersWith(pod, (context) => {
    const added = (context.capabilities?.add ?? []).filter((one) => one !== 'NET_BIND_SERVICE');
    for (const one of added) found.push(one);
    return added.length > 0;
  });
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [
          `${containersText(adding)} must not include ${quoted(sorted(found))} in securityContext.capabilities.add`,
        ]),
  ];
  if (details.length === 0) return undefined;
  return { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

const allowedSources: ReadonlySet<string> = new Set([
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image'],
  ...['persistentVolumeClaim', 'projected', 'secret'],
]);

function restrictedVolumes({ spec }: CheckedPod): Violation | undefined {
  const names: string[] = [];
  const types: string[] = [];
  for (const volume of spec.volumes ?? []) {
    const used = volumeSources.filter((source) => volume[source] !== undefined);
    if (used.some((source) => allowedSources.has(source))) continue;
    names.push(volume.name);
    types.push(used[0] ?? 'unknown');
  }
  if (names.length === 0) return undefined;
  const found = sorted(types);
  const what = plural('restricted volume type', 'restricted volume types', found.length);
  const volumes = `${plural('volume', 'volumes', names.length)} ${quoted(names)}`;
  return {
    reason: 'restricted volume types',
    detail: `${volumes} ${plural('uses', 'use', names.length)} ${what} ${quoted(found)}`,
  };
}

function runAsNonRoot(pod: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const own = pod.spec.securityContext?.runAsNonRoot;
  const root = containersWith(pod, (context) => context.runAsNonRoot === false);
  const setters = settersText(own === false, root);
  if (setters !== '')
    return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  const unset = containersWith(pod, (context) => context.runAsNonRoot === undefined);
  if (own === true || unset.length === 0) return undefined;
  const detail = `pod or ${containersText(unset)} must set securityContext.runAsNonRoot=true`;
  return { reason, detail };
}

function runAsUser(pod: CheckedPod) {
  const isPodBad = pod.spec.securityContext?.runAsUser === 0;
  const names = containersWith(pod, (context) => context.runAsUser === 0);
  return settersViolation('runAsUser=0', settersText(isPodBad, names), 'must not set runAsUser=0');
}

function seccompRequired(pod: CheckedPod): Violation | undefined {
  const bad = seccompProfiles(pod);
  if (bad !== undefined) return bad;
  const unset = containersWith(pod, (context) => context.seccompProfile === undefined);
  if (pod.spec.securityContext?.seccompProfile !== undefined || unset.length === 0)
    return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(unset)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}
