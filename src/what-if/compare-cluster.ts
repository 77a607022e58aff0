// What changes would do to the Services of a cluster: the whole, from a snapshot and changes to the comparison. Pure.
import { waitsForNode } from '../controllers/scheduler/desired.ts';
import { podCondition } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import { changedObjects } from '../snapshot/changed-objects.ts';
import type { ClusterSettings } from '../snapshot/cluster-settings.ts';
import { indexSnapshot } from '../snapshot/index-snapshot.ts';
import { makeSnapshot, type Snapshot } from '../snapshot/snapshot.ts';
import { unknownNode } from '../trace/resolve-source.ts';
import type { Change } from './change.ts';
import { compareEntrances } from './compare-entrances.ts';
import { compareNames } from './compare-names.ts';
import {
  type CompareOptions,
  compareViews,
  type Moments,
  type PodTurnover,
  type ServiceKey,
} from './compare-service.ts';
import { endingConnections } from './ending-connections.ts';
import { compareLevels, judgeChange } from './judge-change.ts';
import { anySources, type JudgeSettings, type Moment } from './judge-port.ts';
import { type Prediction, predict } from './predict.ts';
import { touchedServices } from './touched-services.ts';
import { verdictOf } from './verdict-of.ts';
import type { PodChanges, ServiceComparison, UnscheduledPods, WhatIf } from './what-if.ts';
import { namesText } from './words.ts';

export type WhatIfRequest = {
  readonly changes: readonly Change[];
  /** Of what names none. */
  readonly namespace: string;
  /** Milliseconds. */
  readonly now: number;
  /** Of Services to report; absent: all. */
  readonly scope?: string;
};

/** Throws ChangeError, ApiError for what the API server would refuse, and TooManyPodsError. */
export function compareCluster(
  snapshot: Snapshot,
  request: WhatIfRequest,
  settings: JudgeSettings,
): WhatIf {
  const prediction = predict(snapshot, request.changes, request);
  const touched = touchedServices(prediction.before.objects, prediction.after.objects)
    .map(serviceKey)
    .filter(({ namespace }) => request.scope === undefined || namespace === request.scope);
  const turnover = podTurnover(prediction);
  const moments = momentsOf(prediction, touched, { settings: settings.settings, turnover });
  const drained = new Set(
    request.changes.flatMap((one) => (one.kind === 'drain' ? [one.node] : [])),
  );
  const options = { ...settings, nodes: commonNodes(prediction), drained };
  const services = touched
    .map((key) => compareService(moments, key, options))
    .filter(({ level }) => level !== 'none')
    .sort((a, b) => compareLevels(a.level, b.level));
  const pods = podChanges(prediction, turnover);
  return {
    apiVersion: 'fairlead.dev/v1',
    kind: 'WhatIf',
    ...(snapshot.revision === undefined ? {} : { resourceVersion: snapshot.revision }),
    changes: prediction.effects,
    verdict: verdictOf(services, pods, request.scope),
    services,
    pods,
    assumptions: [...prediction.assumptions, ...assumedOfPorts(services)],
    unread: snapshot.unread,
  };
}

/** What listens in a pod is not known to the cluster. */
function assumedOfPorts(services: readonly ServiceComparison[]): readonly string[] {
  const moved = services.filter(({ views }) =>
    views.some(({ endpoints }) => {
      const left = new Set(endpoints.flatMap((one) => (one.after === 0 ? [one.address] : [])));
      return endpoints.some((one) => one.before === 0 && left.has(one.address));
    }),
  );
  if (moved.length === 0) return [];
  const names = namesText(moved.map(({ namespace, name }) => `${namespace}/${name}`));
  return [`Programs in the pods are taken to listen on the other target port: ${names}`];
}

function serviceKey(key: string): ServiceKey {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

function momentsOf(
  { before, meanwhile, after }: Prediction,
  touched: readonly ServiceKey[],
  { settings, turnover }: { settings: ClusterSettings; turnover: PodTurnover },
): Moments {
  const keys = new Set(touched.map(({ namespace, name }) => `${namespace}/${name}`));
  const moment = (snapshot: Snapshot): Moment => {
    const index = indexSnapshot(snapshot);
    const services = snapshot.objects.services.filter(({ metadata }) =>
      keys.has(objectKey(metadata)),
    );
    const endpointSlices = touched.flatMap(({ namespace, name }) =>
      index.slicesOf(namespace, name),
    );
    const { namespaces } = snapshot.objects;
    const named = indexSnapshot(
      makeSnapshot({ objects: { namespaces, services, endpointSlices } }),
    );
    return { index, named, sources: anySources(index, settings) };
  };
  return {
    ...{ before: moment(before), after: moment(after), pods: turnover },
    ...(meanwhile === undefined ? {} : { meanwhile: moment(meanwhile) }),
  };
}

/** Clients of nodes that go, go with them; those of new nodes have nothing to compare with. */
function commonNodes({ before, after }: Prediction): readonly string[] {
  const names = ({ objects }: Snapshot) => objects.nodes.map(({ metadata }) => metadata.name ?? '');
  const there = new Set(names(before));
  const common = names(after).filter((name) => there.has(name));
  // An API server on its own has none: what does not depend on the node is known all the same.
  return common.length === 0 ? [unknownNode] : common.sort();
}

type Options = CompareOptions & { readonly drained: ReadonlySet<string> };

function compareService(moments: Moments, key: ServiceKey, options: Options): ServiceComparison {
  const { before, after } = moments;
  const { namespace, name } = key;
  const was = before.index.service(namespace, name);
  const is = after.index.service(namespace, name);
  const compared = compareViews(moments, key, options);
  const views = compared.map(({ view }) => view);
  const found = {
    existence: existenceOf(was, is),
    views,
    entrances: compareEntrances(was, is),
    names: compareNames(moments, key, options.settings.domain.value),
    connections: endingConnections(moments, key, { views, traits: options.mode.traits }),
  } as const;
  const isHealthChecked = Boolean(is?.spec.healthCheckNodePort);
  return {
    ...key,
    ...judgeChange({ ...found, views: compared }, { drained: options.drained, isHealthChecked }),
    ...found,
  };
}

function existenceOf(
  was: Service | undefined,
  is: Service | undefined,
): ServiceComparison['existence'] {
  if (was === undefined) return 'created';
  if (is === undefined) return 'deleted';
  return was === is ? 'unchanged' : 'changed';
}

function podTurnover({ before, after }: Prediction): PodTurnover {
  const gone = new Map<string, Pod>();
  const made = new Map<string, Pod>();
  for (const { before: was, after: is } of changedObjects(
    before.objects.pods,
    after.objects.pods,
  )) {
    if (was?.metadata.uid === is?.metadata.uid) continue;
    if (was !== undefined) gone.set(objectKey(was.metadata), was);
    if (is !== undefined) made.set(objectKey(is.metadata), is);
  }
  return { gone, made };
}

function podChanges({ lost }: Prediction, { gone, made }: PodTurnover): PodChanges {
  const evicted = [...lost.values()].filter(({ how }) => how === 'evicted').length;
  return {
    evicted,
    deleted: gone.size - evicted,
    created: made.size,
    unscheduled: unscheduledPods([...made.values()]),
  };
}

/** Before the first node of a cluster is ready the scheduler says nothing. */
const noNodeReady = 'no node is ready';

function unscheduledPods(pods: readonly Pod[]): readonly UnscheduledPods[] {
  const groups = new Map<string, UnscheduledPods>();
  for (const pod of pods.filter(waitsForNode)) {
    const controller = controllerOf(pod);
    const { namespace = '', name = '' } = pod.metadata;
    const owner =
      controller === undefined ? `Pod ${name}` : `${controller.kind} ${controller.name}`;
    const message = podCondition(pod, 'PodScheduled')?.message ?? noNodeReady;
    const key = JSON.stringify([namespace, owner, message]);
    const known = groups.get(key);
    groups.set(key, { namespace, owner, message, count: (known?.count ?? 0) + 1 });
  }
  return [...groups.values()];
}
