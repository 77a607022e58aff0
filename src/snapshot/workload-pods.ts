// Pods of workloads in manifests that a snapshot knows by their pods alone: StatefulSets, DaemonSets, Jobs, CronJobs, and
// ReplicationControllers. Those of the first two are made by the code of their controllers.
import { decodeStrict } from '../apiserver/request/decode-body.ts';
import { daemonPod } from '../controllers/daemon-set/daemon-pod.ts';
import { fitOfNode } from '../controllers/daemon-set/node-fit.ts';
import { newRevision } from '../controllers/stateful-set/history.ts';
import { memberPod } from '../controllers/stateful-set/member-pod.ts';
import { type DaemonSet, daemonSetSchema } from '../kinds/daemon-set/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { templateHash } from '../kinds/pod-template/template-hash.ts';
import { type PodTemplateSpec, podTemplateSpec } from '../kinds/pod-template/types.ts';
import { replicasOf, startOrdinal } from '../kinds/stateful-set/members.ts';
import { type StatefulSet, statefulSetSchema } from '../kinds/stateful-set/types.ts';
import type { KubeObject } from '../meta/object.ts';
import { ownerReferenceTo } from '../meta/owner.ts';
import { jobNameLabel } from '../meta/well-known-labels.ts';
import { decode } from '../schema/decode.ts';
import { isJsonObject, type JsonObject } from '../schema/json-object.ts';

/** A workload in which only the template is decoded. */
export type LenientWorkload = KubeObject & {
  readonly spec: JsonObject;
  readonly template: PodTemplateSpec;
};

type PodMaker = (workload: LenientWorkload, nodes: readonly Node[]) => readonly Pod[];

const podMakers: Readonly<Record<string, PodMaker>> = {
  'apps/v1 StatefulSet': statefulPods,
  'apps/v1 DaemonSet': daemonPods,
  'batch/v1 Job': (job) => jobPods(job, job.spec),
  'batch/v1 CronJob': (cronJob) => jobPods(cronJob, jobSpecOf(cronJob.spec)),
  'v1 ReplicationController': (workload) =>
    numbered(count(workload.spec.replicas, 1)).map(() => generated(workload)),
};

const typeOf = ({ apiVersion, kind }: KubeObject): string => `${apiVersion} ${kind}`;

export const isLenientWorkload = (object: KubeObject): boolean => typeOf(object) in podMakers;

/** Throws ApiError. */
export function decodeWorkload(object: KubeObject): LenientWorkload {
  const { spec: given } = object as { readonly spec?: unknown };
  const spec = isJsonObject(given) ? given : {};
  const holder = object.kind === 'CronJob' ? jobSpecOf(spec) : spec;
  const kind = { group: '', version: 'v1', kind: object.kind, schema: podTemplateSpec };
  const raw = { ...(isJsonObject(holder.template) ? holder.template : {}) };
  const { kind: _kind, apiVersion: _version, ...template } = decodeStrict(kind, raw);
  return { ...object, spec, template: template as unknown as PodTemplateSpec };
}

/** As its controller makes them, without names where the API server makes those. */
export function workloadPods(workload: LenientWorkload, nodes: readonly Node[]): readonly Pod[] {
  return podMakers[typeOf(workload)]?.(workload, nodes) ?? [];
}

function jobSpecOf(spec: JsonObject): JsonObject {
  const template = isJsonObject(spec.jobTemplate) ? spec.jobTemplate : {};
  const inner = isJsonObject(template.spec) ? template.spec : {};
  return spec.suspend === true ? { ...inner, suspend: true } : inner;
}

function statefulPods(workload: LenientWorkload): readonly Pod[] {
  const set = statefulSetOf(workload);
  const version = {
    revision: newRevision(set, 1, 0).metadata.name ?? '',
    template: workload.template,
  };
  return numbered(count(replicasOf(set), 1)).map((index) =>
    memberPod(set, startOrdinal(set) + index, version),
  );
}

function statefulSetOf(workload: LenientWorkload): StatefulSet {
  return decode(statefulSetSchema, workload).object as StatefulSet;
}

/** One on each node that fits, whether or not it takes other pods. */
function daemonPods(workload: LenientWorkload, nodes: readonly Node[]): readonly Pod[] {
  const set = decode(daemonSetSchema, workload).object as DaemonSet;
  const hash = templateHash(set.spec.template);
  return nodes
    .filter((node) => fitOfNode(set, node).shouldRun)
    .map(({ metadata: { name = '' } }) => {
      const pod = daemonPod(set, name, hash);
      return { ...pod, spec: { ...pod.spec, nodeName: name } };
    });
}

/** While it runs: then its pods are endpoints, if a Service selects them. */
function jobPods(workload: LenientWorkload, spec: JsonObject): readonly Pod[] {
  if (spec.suspend === true) return [];
  const parallel = count(spec.parallelism, 1);
  const running = Math.min(parallel, count(spec.completions, parallel));
  const name = workload.metadata.name ?? '';
  return numbered(running).map(() => {
    const pod = generated(workload);
    const labels = { 'job-name': name, [jobNameLabel]: name };
    return { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } } };
  });
}

function generated(workload: LenientWorkload): Pod {
  const { template, metadata } = workload;
  const { labels, annotations } = template.metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      generateName: `${metadata.name ?? ''}-`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(workload)],
    },
    spec: template.spec,
    status: {},
  };
}

/** Counts beyond what is settled need not be exact. */
const maxCount = 100_000;

const count = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && value >= 0 ? Math.min(Math.trunc(value), maxCount) : otherwise;

const numbered = (length: number): readonly number[] =>
  Array.from({ length }, (_one, index) => index);
