// POST to `serviceaccounts/NAME/token`: a token for the account. Kubernetes: pkg/registry/core/serviceaccount.

import type { Pod } from '../../kinds/pod/types.ts';
import { badRequest, conflict, invalid, notFound } from '../../meta/api-error.ts';
import { type FieldError, invalid as invalidField } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { formatTime } from '../../schema/time.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { negotiate } from '../encode/negotiate.ts';
import { encodeObject } from '../encode/object.ts';
import { assertShape } from '../encode/partial-metadata.ts';
import { type ApiResponse, header } from '../message.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { admissionOf, admitRequest, type Call, namespaceOf } from '../verbs/call.ts';
import type { Reference } from './claims.ts';
import type { TokenSpec } from './service-account-tokens.ts';
import {
  type BoundObjectReference,
  type TokenRequest,
  tokenRequestKind,
} from './token-request-schema.ts';

const minSeconds = 10 * 60;
const maxSeconds = 2 ** 32;
const defaultSeconds = 60 * 60;

export async function requestToken(call: Call): Promise<ApiResponse> {
  const { context, request, info } = call;
  const representation = negotiate(header(request, 'accept'), request.query, {
    allow: 'object',
    forms: 'metadata',
  });
  assertShape(representation, tokenRequestKind, 'object');
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const tokenRequest = await admitRequest(
    admissionOf(call, options),
    (await readObject(call, tokenRequestKind, options)) as TokenRequest,
  );
  const namespace = namespaceOf(call);
  checkNames(tokenRequest, info.name, namespace);
  const { reader } = context.resources;
  const account = reader.get('serviceaccounts', namespace, info.name);
  if (account === undefined) throw notFound(serviceAccounts, info.name);
  checkUid(tokenRequest, account);
  const seconds = tokenRequest.spec.expirationSeconds ?? defaultSeconds;
  const errors = validateDuration(seconds);
  if (errors.length > 0) throw invalid(tokenRequestKind, '', errors);
  const { boundObjectRef } = tokenRequest.spec;
  const audiences = tokenRequest.spec.audiences?.length
    ? tokenRequest.spec.audiences
    : context.tokens.audiences;
  const now = context.now();
  const tokenSpec = {
    namespace,
    serviceAccount: referenceTo(account),
    audiences,
    expirationSeconds: seconds,
    ...(boundObjectRef && bindingOf(reader, { ref: boundObjectRef, account })),
  };
  // Go writes a reference that is not there as null; protobuf has nothing to write.
  const unbound = representation.format === 'protobuf' ? {} : { boundObjectRef: null };
  const answer = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: info.name, namespace, creationTimestamp: formatTime(now) },
    spec: {
      audiences,
      expirationSeconds: seconds,
      ...(boundObjectRef === undefined ? unbound : { boundObjectRef }),
    },
    status: {
      token: context.tokens.issue(tokenSpec, now),
      expirationTimestamp: formatTime(now + seconds * 1000),
    },
  };
  const { contentType, ...encoded } = encodeObject(representation, tokenRequestKind, answer, now);
  return { status: 201, headers: { 'content-type': contentType }, ...encoded };
}

const serviceAccounts = { group: '', resource: 'serviceaccounts' };

function checkNames({ metadata }: TokenRequest, name: string, namespace: string): void {
  const wrong = (field: 'name' | 'namespace', value: string): Error =>
    invalid(tokenRequestKind, name, [
      invalidField(
        `metadata.${field}`,
        value,
        `must match the service account ${field} if specified`,
      ),
    ]);
  if ((metadata.name ?? name) !== name) throw wrong('name', metadata.name ?? '');
  if ((metadata.namespace ?? namespace) !== namespace)
    throw wrong('namespace', metadata.namespace ?? '');
}

/** A request with a UID gets no token of another account that was created with the same name. */
function checkUid({ metadata }: TokenRequest, account: KubeObject): void {
  const { uid } = metadata;
  const { name = '', uid: found = '' } = account.metadata;
  if (uid === undefined || uid === found) return;
  throw conflict(
    { group: tokenRequestKind.group, resource: tokenRequestKind.kind },
    name,
    `the UID in the token request (${uid}) does not match the UID of the service account (${found})`,
  );
}

function validateDuration(seconds: number): readonly FieldError[] {
  const wrong = (why: string): readonly FieldError[] => [
    invalidField('spec.expirationSeconds', seconds, why),
  ];
  if (seconds < minSeconds) return wrong('may not specify a duration less than 10 minutes');
  return seconds > maxSeconds ? wrong('may not specify a duration larger than 2^32 seconds') : [];
}

type Binding = { readonly ref: BoundObjectReference; readonly account: KubeObject };

/** The object to which the token shall be bound, as it is now. */
function bindingOf(
  reader: ObjectReader,
  { ref, account }: Binding,
): Pick<TokenSpec, 'pod' | 'secret' | 'node'> {
  const { kind = '', apiVersion = '', name = '', uid } = ref;
  const { namespace = '', name: accountName = '' } = account.metadata;
  const resource = apiVersion.includes('/') ? undefined : bindable[kind];
  if (resource === undefined) {
    throw badRequest(`cannot bind token to object of type ${goGroupVersionKind(apiVersion, kind)}`);
  }
  const found = reader.get(resource, kind === 'Node' ? '' : namespace, name);
  if (found === undefined) throw notFound({ group: '', resource }, name);
  if (kind === 'Pod' && (found as Pod).spec.serviceAccountName !== accountName) {
    throw badRequest(
      `cannot bind token for serviceaccount ${goQuote(accountName)} to pod running with different serviceaccount name.`,
    );
  }
  if (uid !== undefined && uid !== found.metadata.uid) {
    throw conflict(
      { group: '', resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  switch (kind) {
    case 'Pod':
      return { pod: referenceTo(found), ...nodeOfPod(reader, found as Pod) };
    case 'Node':
      return { node: referenceTo(found) };
    default:
      return { secret: referenceTo(found) };
  }
}

const bindable: Readonly<Record<string, string>> = {
  Pod: 'pods',
  Node: 'nodes',
  Secret: 'secrets',
};

/** The node of the pod; only its name when the Node does not exist yet. */
function nodeOfPod(reader: ObjectReader, { spec }: Pod): Pick<TokenSpec, 'node'> {
  const { nodeName } = spec;
  if (!nodeName) return {};
  const node = reader.get('nodes', '', nodeName);
  return { node: node === undefined ? { name: nodeName } : referenceTo(node) };
}

const referenceTo = ({ metadata }: KubeObject): Reference => ({
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});

/** As Go prints it: `apps/v1, Kind=Deployment`. */
function goGroupVersionKind(apiVersion: string, kind: string): string {
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${version}, Kind=${kind}`;
}
