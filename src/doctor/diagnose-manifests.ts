// The diagnosis of manifests: of the cluster that they would lead to, with findings at the files and lines where people can mend them.
import { sameValue } from '../apiserver/patch/json-value.ts';
import { controllerOf } from '../meta/owner.ts';
import { clusterSettings } from '../snapshot/cluster-settings.ts';
import { indexSnapshot, type SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { Manifest } from '../snapshot/manifest.ts';
import {
  type ManifestProblem,
  type ManifestSnapshot,
  snapshotOfManifests,
} from '../snapshot/snapshot-of-manifests.ts';
import type { Evidence, Finding, Fix, ObjectName, SourceLine } from './check.ts';
import { type Diagnosis, diagnose, withoutRepeats } from './diagnose.ts';
import type { RepeatedManifest } from './manifest-facts.ts';
import { objectId } from './object-names.ts';
import { workloadOf } from './workloads.ts';

export type ManifestsRequest = {
  readonly manifests: readonly Manifest[];
  /** Documents that are no objects. */
  readonly problems: readonly ManifestProblem[];
  /** Of objects that name none. */
  readonly namespace: string;
  /** One Service of that namespace; absent: all that there is. */
  readonly service?: string;
  readonly nowMs: number;
};

export type ManifestDiagnosis = Pick<ManifestSnapshot, 'snapshot' | 'ignoredKinds'> & {
  readonly index: SnapshotIndex;
  readonly diagnosis: Diagnosis;
};

export function diagnoseManifests(request: ManifestsRequest): ManifestDiagnosis {
  const { manifests, namespace, service, nowMs } = request;
  const made = snapshotOfManifests(manifests, { namespace, now: nowMs });
  const { snapshot, ignoredKinds, hasMadeUpNodes } = made;
  const index = indexSnapshot(snapshot);
  const problems = [...request.problems, ...made.problems];
  const diagnosis = diagnose({
    index,
    settings: clusterSettings(index),
    scope: { ...(service === undefined ? {} : { namespace, service }), isLive: false, nowMs },
    manifests: { problems, hasMadeUpNodes, ignoredKinds, repeated: repeatedIn(request) },
  });
  const sources = sourcesOf(request);
  const findings = withoutRepeats(
    diagnosis.findings.map((finding) => located(finding, { index, sources })),
  );
  return { snapshot, ignoredKinds, index, diagnosis: { ...diagnosis, findings } };
}

/** Of others, such as roles, a second copy changes nothing for Services. */
const repeatedKinds: ReadonlySet<string> = new Set([
  ...['Service', 'EndpointSlice', 'Endpoints', 'Ingress'],
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Pod'],
]);

function repeatedIn({ manifests, namespace }: ManifestsRequest): readonly RepeatedManifest[] {
  const seen = new Map<string, Manifest>();
  return manifests.flatMap((manifest) => {
    const { kind, apiVersion, metadata } = manifest.object;
    const { name, namespace: own } = metadata;
    if (name === undefined || !repeatedKinds.has(kind)) return [];
    const key = `${apiVersion} ${kind} ${own ?? namespace}/${name}`;
    const first = seen.get(key);
    seen.set(key, manifest);
    if (first === undefined || sameValue(first.object, manifest.object)) return [];
    const about = { kind, namespace: own ?? namespace, name };
    return [{ about, first: lineOf(first), second: lineOf(manifest) }];
  });
}

const lineOf = ({ source, line }: Manifest): SourceLine => ({ file: source, line });

type Sources = ReadonlyMap<string, SourceLine>;

/** By name, as findings have it; objects of the cluster without a namespace. */
function sourcesOf({ manifests, namespace }: ManifestsRequest): Sources {
  return new Map(
    manifests.flatMap(({ object, source, line }) => {
      const { kind, metadata } = object;
      const { name = '' } = metadata;
      const position = { file: source, line };
      const inNamespace = { kind, namespace: metadata.namespace ?? namespace, name };
      return [
        [objectId({ kind, name }), position],
        [objectId(inNamespace), position],
      ] as const;
    }),
  );
}

type Origins = { readonly index: SnapshotIndex; readonly sources: Sources };

function located(finding: Finding, origins: Origins): Finding {
  const about = origin(finding.about, origins).object;
  const evidence = finding.evidence.map((one) => atOrigin(one, origins));
  const source =
    finding.source ??
    [about, ...evidence.map(({ object }) => object)]
      .map((object) => origins.sources.get(objectId(object)))
      .find((one) => one !== undefined);
  const { fix, ...rest } = finding;
  return {
    ...rest,
    about,
    evidence,
    ...(fix === undefined ? {} : { fix: withoutCommand(fix) }),
    ...(source === undefined ? {} : { source }),
  };
}

/** There is no cluster to which a command could be sent. */
function withoutCommand({ command: _command, ...fix }: Fix): Fix {
  return fix;
}

function atOrigin(evidence: Evidence, origins: Origins): Evidence {
  const { object, isMade } = origin(evidence.object, origins);
  if (!isMade) return evidence;
  const inTemplate = /^(?:spec|metadata)\b/.test(evidence.field);
  const field = inTemplate ? `spec.template.${evidence.field}` : evidence.field;
  return { ...evidence, object, field };
}

type Origin = {
  readonly object: ObjectName;
  /** The object is not in the manifests; this is what it was made of. */
  readonly isMade: boolean;
};

/** Pods have made-up names: people know the workload. */
function origin(name: ObjectName, { index, sources }: Origins): Origin {
  if (name.kind !== 'Pod' || sources.has(objectId(name))) return { object: name, isMade: false };
  const pod = index.pod(name.namespace ?? '', name.name);
  if (pod === undefined || controllerOf(pod) === undefined) return { object: name, isMade: false };
  const { kind, name: owner } = workloadOf(pod);
  const scope = name.namespace === undefined ? {} : { namespace: name.namespace };
  return { object: { kind, ...scope, name: owner }, isMade: true };
}
