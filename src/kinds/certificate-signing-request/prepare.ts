// What the server keeps and clears: who asked is the server's to say, approval and certificate have their own paths.
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
  const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = object.spec;
  const { name = '', uid, groups = [], extra } = user ?? {};
  return {
    ...object,
    spec: {
      ...asked,
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

const approvalTypes = ['Approved', 'Denied'];

/** Approved and Denied stay as they were: they are set through `approval` alone. */
export function prepareStatus(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
  { now }: WriteContext,
): CertificateSigningRequest {
  const kept = (before.status.conditions ?? []).filter(({ type }) => approvalTypes.includes(type));
  const others = (after.status.conditions ?? []).filter(
    ({ type }) => !approvalTypes.includes(type),
  );
  const conditions = stamped(before.status.conditions, [...kept, ...others], now);
  const { conditions: _sent, ...status } = after.status;
  return {
    ...after,
    spec: before.spec,
    status: { ...status, ...(conditions.length === 0 ? {} : { conditions }) },
  };
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
