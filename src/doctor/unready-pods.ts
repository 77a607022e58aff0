// Findings about pods of a Service that are not ready for one and the same cause.
import { isPodReady } from '../kinds/pod/readiness.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Fix, Severity, Symptom } from './check.ts';
import { countText, listText, objectName } from './object-names.ts';
import type { ServiceSubject } from './subject.ts';
import { type Unready, type UnreadyCause, whyNotReady } from './why-not-ready.ts';

export type UnreadyCase = {
  readonly cause: UnreadyCause;
  /** What the pods do, such as `cannot pull their image`. */
  readonly predicate: string;
  readonly fix?: (pod: Pod, unready: Unready) => Fix;
  /** When other pods are ready; `warning` unless set. */
  readonly partial?: Severity;
  /** When no pod is ready; `error` unless set. */
  readonly none?: Severity;
};

/** Evidence of so many pods is enough. */
const maxEvidence = 3;

/** More severe when no pod is ready. Services that publish unready pods do not care. */
export function unreadyPods(
  subject: ServiceSubject,
  { cause, predicate, fix, partial = 'warning', none = 'error' }: UnreadyCase,
): readonly Symptom[] {
  if (subject.service.spec.publishNotReadyAddresses === true) return [];
  const pods = subject.pods();
  const concerned = pods.flatMap((pod) => {
    const unready = whyNotReady(pod, subject.index);
    return unready?.cause === cause ? [{ pod, unready }] : [];
  });
  const [first] = concerned;
  if (first === undefined) return [];
  const isServed = pods.some(isPodReady);
  const names = listText(concerned.map(({ pod }) => pod.metadata.name ?? ''));
  const count = `${concerned.length} of ${countText(pods.length, 'pod')}`;
  return [
    {
      message: `${count} ${predicate}: ${names}: ${first.unready.detail}`,
      evidence: concerned.slice(0, maxEvidence).map(({ pod, unready }) => ({
        object: objectName(pod),
        field: unready.field,
        value: unready.value,
      })),
      severity: isServed ? partial : none,
      ...(fix === undefined ? {} : { fix: fix(first.pod, first.unready) }),
    },
  ];
}
