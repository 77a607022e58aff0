// Revisions of a pod template: what is in them, how they are named and ordered. Upstream: pkg/controller/history.
import { deepEqual } from '../../schema/equality.ts';
import { goJson } from '../../schema/go-json.ts';
import { encodeSafely } from '../pod-template/template-hash.ts';
import type { PodTemplateSpec } from '../pod-template/types.ts';
import type { ControllerRevision } from './types.ts';

/** A strategic merge patch of the workload, as `kubectl rollout undo` sends it. */
export function revisionData({ template }: { readonly template: PodTemplateSpec }): object {
  return { spec: { template: sorted({ $patch: 'replace', ...template }) } };
}

/** Upstream hashes JSON with sorted keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** The suffix of a revision's name. */
export function hashData(data: object, collisionCount: number): string {
  const bytes = Buffer.from(goJson(data) + String(collisionCount));
  return encodeSafely(String(fnv32(bytes)));
}

/** FNV-1, where template hashes are FNV-1a. */
function fnv32(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash, 0x01000193) ^ byte;
  return hash >>> 0;
}

/** The template in a revision; undefined where the data, which people may write, has another form. */
export function templateIn({ data }: ControllerRevision): object | undefined {
  const template = memberOf(memberOf(data, 'spec'), 'template');
  if (template === undefined) return undefined;
  const { $patch: _, ...rest } = template;
  return rest;
}

function memberOf(value: unknown, name: string): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const member = (value as Record<string, unknown>)[name];
  return typeof member === 'object' && member !== null && !Array.isArray(member)
    ? (member as Record<string, unknown>)
    : undefined;
}

/** Revisions that Kubernetes before 1.34 wrote have a creationTimestamp of null in their templates. */
export function hasTemplate(revision: ControllerRevision, template: PodTemplateSpec): boolean {
  const stored = templateIn(revision) as { readonly metadata?: object } | undefined;
  if (stored === undefined) return false;
  const metadata = Object.fromEntries(
    Object.entries(stored.metadata ?? {}).filter(([, value]) => value !== null),
  );
  return deepEqual({ ...stored, metadata }, template);
}

/** The earliest first. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  return (
    a.revision - b.revision ||
    compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
    compare(a.metadata.name, b.metadata.name)
  );
}

const compare = (a = '', b = ''): number => (a === b ? 0 : a < b ? -1 : 1);

export const highestRevision = (revisions: readonly ControllerRevision[]): number =>
  revisions.reduce((highest, { revision }) => Math.max(highest, revision), 0);
