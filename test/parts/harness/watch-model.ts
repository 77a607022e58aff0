// What watchers must see, as a function of what was written.
import type { WatchEvent } from './api-client.ts';
import type { ConfigMap } from './config-maps.ts';

/** One write: the object before and after, either of them absent. */
export type Step = {
  readonly revision: number;
  readonly before: ConfigMap | undefined;
  readonly after: ConfigMap | undefined;
};

export type Interest = {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** `color` must have this value. */
  readonly color?: string;
};

/** Events after a revision: `TYPE namespace/name version round`. */
export function expectedEvents(
  steps: readonly Step[],
  after: number,
  interest: Interest,
): readonly string[] {
  return steps.filter(({ revision }) => revision > after).flatMap((step) => seen(step, interest));
}

function seen({ revision, before, after }: Step, interest: Interest): readonly string[] {
  const was = matches(before, interest);
  const is = matches(after, interest);
  if (is && after !== undefined) return [line(was ? 'MODIFIED' : 'ADDED', after, revision)];
  return was && before !== undefined ? [line('DELETED', before, revision)] : [];
}

function matches(object: ConfigMap | undefined, { namespace, color }: Interest): boolean {
  if (object === undefined) return false;
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return color === undefined || object.metadata.labels?.color === color;
}

function line(type: string, { metadata, data }: ConfigMap, revision: number | string): string {
  return `${type} ${metadata.namespace}/${metadata.name} ${revision} ${data?.round ?? ''}`;
}

export const actualEvents = (events: readonly WatchEvent<ConfigMap>[]): readonly string[] =>
  events.map(({ type, object }) => line(type, object, object.metadata.resourceVersion ?? ''));

export function watchPath({ namespace, color }: Interest, version: number | string): string {
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  const selector = color === undefined ? '' : `&labelSelector=color%3D${color}`;
  return `/api/v1${scope}/configmaps?watch=1&resourceVersion=${version}${selector}`;
}
