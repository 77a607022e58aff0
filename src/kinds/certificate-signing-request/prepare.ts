// What the server sets and clears: the requester comes from the request's user; approval and certificate have
// subresources of their own.
import { deepEqual } from '../../schema/equality.ts';
import type { WriteContext } from '../definition.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition as Condition,
} from './types.ts';

export function prepareCreate(
  object: CertificateSigningRequest,
  { user }: WriteContext,
): CertificateSigningRequest {
  const {
    username: _username,
    uid: _uid,
    groups: _groups,
    extra: _extra,
    ...requested
  } = object.spec;
  const { name = '', uid, groups = [], extra } = user ?? {};
  return {
    ...object,
    spec: {
      ...requested,
      ...(name === '' ? {} : { username: name }),
      ...(uid === undefined ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
    },
    status: {},
  };
}

export function prepareUpdate(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): CertificateSigningRequest {
  return { ...after, spec: before.spec, status: before.status };
}

export function prepareApproval(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
  { now }: WriteContext,
): CertificateSigningRequest {
  const conditions = stamped(before.status.conditions, after.status.conditions ?? [], now);
  return { ...after, spec: before.spec, status: { ...before.status, conditions } };
}

/** Approved and Denied keep their values. Where one was added or removed, nothing is restored: validation rejects that. */
export function prepareStatus(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
  { now }: WriteContext,
): CertificateSigningRequest {
  const old = before.status.conditions ?? [];
  const restored = ['Approved', 'Denied'].reduce(
    (sent, type) => withInstances(old, sent, type),
    after.status.conditions ?? [],
  );
  const conditions = stamped(old, restored, now);
  const { conditions: _sent, ...status } = after.status;
  return {
    ...after,
    spec: before.spec,
    status: { ...status, ...(conditions.length === 0 ? {} : { conditions }) },
  };
}

/** `sent`, with the conditions of this type replaced by the previous ones, in order. */
function withInstances(
  before: readonly Condition[],
  sent: readonly Condition[],
  wanted: string,
): readonly Condition[] {
  const old = before.filter(({ type }) => type === wanted);
  if (sent.filter(({ type }) => type === wanted).length !== old.length) return sent;
  let next = 0;
  return sent.map((one) => {
    if (one.type !== wanted) return one;
    const same = old[next] ?? one;
    next += 1;
    return same;
  });
}

function stamped(
  before: readonly Condition[] = [],
  after: readonly Condition[],
  now: string,
): readonly Condition[] {
  const known = new Map([...before].reverse().map((one) => [one.type, one]));
  return after.map((one) => {
    const old = known.get(one.type);
    if (deepEqual(old, one)) return one;
    const isSame = old !== undefined && old.status === one.status;
    return {
      ...one,
      lastUpdateTime: one.lastUpdateTime ?? now,
      lastTransitionTime: one.lastTransitionTime ?? (isSame ? old.lastTransitionTime : now),
    };
  });
}
