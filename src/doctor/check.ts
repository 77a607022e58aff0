// The contract of a check: what it needs to know, and what it finds. Checks are pure and know nothing of each other.
import type { SnapshotKind } from '../snapshot/snapshot.ts';
import type { Cluster, ServiceSubject } from './subject.ts';

/**
 * `error`: traffic fails, or goes where it should not. `warning`: likely a mistake, or it fails on the next change. `info`: good to know.
 */
export type Severity = 'error' | 'warning' | 'info';

export const severities: readonly Severity[] = ['error', 'warning', 'info'];

export type ObjectName = {
  readonly kind: string;
  /** Absent for objects of the cluster. */
  readonly namespace?: string;
  readonly name: string;
};

/** What a finding is based on: a field and its value. */
export type Evidence = {
  readonly object: ObjectName;
  /** As in `kubectl explain`, such as `spec.ports[0].targetPort`. */
  readonly field: string;
  readonly value: string;
};

export type Patch = {
  readonly target: ObjectName;
  /** Of the API: `merge` has nulls for what is removed and replaces lists; `strategic` merges lists by their keys. */
  readonly type: 'strategic' | 'merge';
  readonly body: object;
};

export type Fix = {
  /** What to do, as an imperative. */
  readonly sentence: string;
  /** The smallest change; absent where the fix is not a change of one object. */
  readonly patch?: Patch;
  /** For the shell; made of the patch where there is one. */
  readonly command?: string;
};

/** Where an object stands in a manifest. */
export type SourceLine = {
  /** `STDIN` for standard input. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
};

/** What a check reports. */
export type Symptom = {
  /** One sentence with names and values, without a period. */
  readonly message: string;
  readonly evidence: readonly Evidence[];
  /** Of the check, unless this case is less or more severe. */
  readonly severity?: Severity;
  readonly fix?: Fix;
  /** Where what it is about has no name by which it could be found. */
  readonly source?: SourceLine;
};

/** A symptom of an object that is not a Service, or that concerns several Services. */
export type ClusterSymptom = Symptom & { readonly about: ObjectName };

type CheckFacts = {
  /** `FL` and four digits, the first two of which are the group; never used again for another check. */
  readonly code: string;
  readonly severity: Severity;
  /** Of its page in docs/doctor, too. */
  readonly title: string;
  /** The check is skipped, and said to be skipped, when one of them could not be read. */
  readonly needs: readonly SnapshotKind[];
  /** It reads status or events, which manifests do not have. */
  readonly isLiveOnly?: boolean;
  /** Checks whose findings about the same Service follow from this one: beginnings of codes, such as `FL03`. */
  readonly explains?: readonly string[];
};

/** One Service at a time. */
export type ServiceCheck = CheckFacts & {
  readonly scope: 'service';
  readonly find: (subject: ServiceSubject) => readonly Symptom[];
};

/** All objects at once: pods, nodes, Ingresses, and what several Services have in common. */
export type ClusterCheck = CheckFacts & {
  readonly scope: 'cluster';
  readonly find: (cluster: Cluster) => readonly ClusterSymptom[];
};

export type Check = ServiceCheck | ClusterCheck;

export type Finding = {
  readonly code: string;
  readonly severity: Severity;
  readonly title: string;
  /** The Service, or what else is concerned. */
  readonly about: ObjectName;
  readonly message: string;
  readonly evidence: readonly Evidence[];
  readonly fix?: Fix;
  /** Of manifests: where the object stands, or what it was made of. */
  readonly source?: SourceLine;
};
