// Gives containers the default resources of their namespace, and refuses pods and claims beyond its limits. Kubernetes:
// plugin/pkg/admission/limitranger.
import { claimLimitProblems, podLimitProblems } from '../../kinds/limit-range/constraints.ts';
import type { LimitRange } from '../../kinds/limit-range/types.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';

const annotation = 'kubernetes.io/limit-ranger';

export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  onByDefault: true,
  mutate(request, { limitRangesOf }) {
    const { operation, subresource, namespace, after } = request;
    const isNew = operation === 'create' && subresource === '' && isResource(request, '', 'pods');
    if (!isNew) return undefined;
    const ranges = limitRangesOf(namespace);
    return ranges.length === 0 ? undefined : withDefaults(after as Pod, rangesIn(ranges));
  },
  validate(request, { limitRangesOf }) {
    if (!isLimited(request)) return undefined;
    for (const range of rangesIn(limitRangesOf(request.namespace))) {
      const problems = isResource(request, '', 'pods')
        ? podLimitProblems(range, request.after as Pod)
        : claimLimitProblems(range, request.after as PersistentVolumeClaim);
      const [first, ...others] = [...new Set(problems)];
      if (first === undefined) continue;
      throw refused(request, others.length === 0 ? first : `[${[first, ...others].join(', ')}]`);
    }
    return undefined;
  },
};

const rangesIn = (cached: readonly { readonly object: object }[]): readonly LimitRange[] =>
  cached.map(({ object }) => object as LimitRange);

/** The resources of pods change only by a resize. */
function isLimited(request: AdmissionRequest): boolean {
  const { operation, subresource, before } = request;
  if (before?.metadata.deletionTimestamp !== undefined) return false;
  if (isResource(request, '', 'pods'))
    return operation === 'create' ? subresource === '' : subresource === 'resize';
  return subresource === '' && isResource(request, '', 'persistentvolumeclaims');
}

function withDefaults(pod: Pod, ranges: readonly LimitRange[]): Pod {
  return ranges.reduce((before, { spec }) => {
    const items = (spec.limits ?? []).filter(({ type }) => type === 'Container');
    const defaults: Defaults = {
      requests: Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest)),
      limits: Object.assign({}, ...items.map((item) => item.default)),
    };
    return withResources(before, defaults);
  }, pod);
}

type Defaults = { readonly requests: ResourceList; readonly limits: ResourceList };

function withResources(pod: Pod, defaults: Defaults): Pod {
  const { containers, initContainers } = pod.spec;
  const done = [
    ...(containers ?? []).flatMap((one) => notesOn(one, defaults, 'container')),
    ...(initContainers ?? []).flatMap((one) => notesOn(one, defaults, 'init container')),
  ];
  if (done.length === 0) return pod;
  const complete = (container: Container): Container => withMissing(container, defaults);
  const note = `LimitRanger plugin set: ${done.join('; ')}`;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [annotation]: note },
    },
    spec: {
      ...pod.spec,
      containers: (containers ?? []).map(complete),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(complete) }),
    },
  };
}

function withMissing(container: Container, { requests, limits }: Defaults): Container {
  const { resources } = container;
  return {
    ...container,
    resources: {
      ...resources,
      ...(hasAny(limits) ? { limits: { ...limits, ...resources.limits } } : {}),
      ...(hasAny(requests) ? { requests: { ...requests, ...resources.requests } } : {}),
    },
  };
}

const hasAny = (list: ResourceList): boolean => Object.keys(list).length > 0;

/** `cpu, memory request for container c`: which resources the container gets. */
function notesOn(
  { name, resources }: Container,
  { requests, limits }: Defaults,
  what: string,
): readonly string[] {
  const note = (
    defaults: ResourceList,
    own: ResourceList = {},
    kind: string,
  ): readonly string[] => {
    const missing = Object.keys(defaults).filter((resource) => own[resource] === undefined);
    return missing.length === 0 ? [] : [`${missing.sort().join(', ')} ${kind} for ${what} ${name}`];
  };
  return [
    ...note(requests, resources.requests, 'request'),
    ...note(limits, resources.limits, 'limit'),
  ];
}
