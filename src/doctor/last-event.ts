// The last warning about an object.
import type { Event } from '../kinds/event/types.ts';
import type { KubeObject } from '../meta/object.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

export type EventFilter = {
  readonly reasons: readonly string[];
  /** Of the message. */
  readonly beginning?: string;
};

/** Events of an earlier object with the same name do not count. */
export function lastEvent(
  index: SnapshotIndex,
  { kind, metadata }: KubeObject,
  { reasons, beginning = '' }: EventFilter,
): Event | undefined {
  const { namespace = '', name = '', uid } = metadata;
  let last: Event | undefined;
  for (const event of index.eventsAbout({ kind, namespace, name })) {
    const { involvedObject, reason = '', message = '' } = event;
    if (!reasons.includes(reason) || !message.startsWith(beginning)) continue;
    if (involvedObject.uid !== undefined && uid !== undefined && involvedObject.uid !== uid)
      continue;
    if (last === undefined || timeOf(event) >= timeOf(last)) last = event;
  }
  return last;
}

/** RFC 3339 in UTC sorts as text. */
function timeOf({ lastTimestamp, eventTime, series, metadata }: Event): string {
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}
