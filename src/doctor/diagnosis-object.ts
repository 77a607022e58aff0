// A diagnosis for programs. Its fields are promised: docs/reference/output-doctor.md.
import type { Snapshot, Unread } from '../snapshot/snapshot.ts';
import type { Finding } from './check.ts';
import type { Diagnosis, SkippedCheck } from './diagnose.ts';
import { countSeverities } from './render-diagnosis.ts';

export type DiagnosisObject = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'Diagnosis';
  /** Of the cluster's objects; absent when they could not be read at one moment, and for manifests. */
  readonly resourceVersion?: string;
  readonly summary: {
    readonly services: number;
    readonly error: number;
    readonly warning: number;
    readonly info: number;
  };
  readonly findings: readonly Finding[];
  readonly skippedChecks: readonly SkippedCheck[];
  /** Of manifests only. */
  readonly ignoredKinds?: readonly string[];
  readonly unread: readonly Unread[];
};

export function diagnosisObject(
  { services, findings, skipped }: Diagnosis,
  { revision, unread }: Snapshot,
  ignoredKinds?: readonly string[],
): DiagnosisObject {
  return {
    apiVersion: 'fairlead.dev/v1',
    kind: 'Diagnosis',
    ...(revision === undefined ? {} : { resourceVersion: revision }),
    summary: { services, ...countSeverities(findings) },
    findings,
    skippedChecks: skipped,
    ...(ignoredKinds === undefined ? {} : { ignoredKinds }),
    unread,
  };
}
