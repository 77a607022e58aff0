// DeleteOptions from the body or, without a body, from the query.

import { badRequest, invalid } from '../../meta/api-error.ts';
import { type FieldError, invalid as invalidField, notSupported } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { JsonObject } from '../../schema/json-object.ts';
import * as s from '../../schema/node.ts';
import { parseYaml } from '../../schema/yaml.ts';
import { header, type QueryOptions, type VerbRequest } from '../message.ts';
import type { DeleteOptions } from '../objects/mark-deleted.ts';
import { mediaOf, notAnObject, parseJson } from '../request/decode-body.ts';
import { parseInteger } from '../request/list-options.ts';
import { openProtobufBody } from '../request/protobuf-body.ts';
import { dryRunErrors } from '../request/write-options.ts';
import type { Call } from './call.ts';

export const deleteOptions = s.struct(
  'DeleteOptions',
  {
    kind: s.string('DeleteOptions.'),
    apiVersion: s.string('Group and version of these options.'),
    gracePeriodSeconds: s.pointer(
      s.int64('Seconds granted for an orderly end; 0 removes at once.'),
    ),
    preconditions: s.pointer(
      s.struct(
        'Preconditions',
        {
          uid: s.pointer(s.string('Only the object with this UID.')),
          resourceVersion: s.pointer(s.string('Only the object at this version.')),
        },
        { numbers: [1, 2] },
      ),
      'What must hold for the delete to happen.',
    ),
    orphanDependents: s.pointer(s.boolean('Older form of propagationPolicy.')),
    propagationPolicy: s.pointer(
      s.string('What becomes of dependents: Orphan, Background or Foreground.'),
    ),
    dryRun: s.list(s.string(), 'All: do everything but the write.', { listType: 'atomic' }),
  },
  { numbers: [0, 0, 1, 2, 3, 4, 5] },
);

export type ParsedDelete = { readonly options: DeleteOptions; readonly dryRun: boolean };

export async function parseDeleteOptions(request: VerbRequest): Promise<ParsedDelete> {
  const body = await request.body();
  const raw =
    body.length === 0
      ? fromQuery(request.query)
      : fromBody(body, header(request, 'content-type') ?? '');
  const dryRun = raw.dryRun ?? (body.length === 0 ? request.query.getAll('dryRun') : []);
  const errors = [...propagationErrors(raw), ...dryRunErrors(dryRun)];
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { options: raw, dryRun: dryRun.length > 0 };
}

/** Kinds that orphan their dependents by default say so. */
export function warnOfDefaultPolicy(call: Call, options: DeleteOptions): void {
  const { orphansByDefault } = call.resource.definition;
  const isChosen =
    options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (orphansByDefault !== undefined && !isChosen) call.warn(orphansByDefault.warning);
}

type Raw = DeleteOptions & { readonly dryRun?: readonly string[] };

function fromQuery(query: QueryOptions): Raw {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: parseInteger(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: orphan !== 'false' && orphan !== '0' }),
  };
}

/** DeleteOptions of any group and version, because clients send that of the object. */
function fromBody(body: Uint8Array, contentType: string): Raw {
  const raw = parseOptions(body, contentType);
  const { kind = 'DeleteOptions', apiVersion = 'v1' } = raw;
  if (kind !== 'DeleteOptions' && kind !== '') {
    throw badRequest(
      `no kind ${goQuote(String(kind))} is registered for version ${goQuote(String(apiVersion))} in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
    );
  }
  const { object, error } = decode(deleteOptions, raw);
  if (error !== undefined) throw badRequest(error);
  return object as Raw;
}

function parseOptions(body: Uint8Array, contentType: string): JsonObject {
  const media = mediaOf(contentType);
  if (media === 'protobuf')
    return openProtobufBody(body, badRequest).fields(deleteOptions, badRequest);
  const text = Buffer.from(body).toString('utf8');
  const raw = media === 'yaml' ? yamlBody(text) : parseJson(text, noKind);
  if (typeof (raw ?? {}) !== 'object' || Array.isArray(raw)) throw noKind(notAnObject(raw));
  return (raw ?? {}) as JsonObject;
}

function yamlBody(text: string): unknown {
  const parsed = parseYaml(text);
  if ('error' in parsed) throw noKind(parsed.error);
  return parsed.value;
}

const noKind = (why: string): Error =>
  badRequest(`couldn't get version/kind; json parse error: ${why}`);

const policies = ['Foreground', 'Background', 'Orphan'];

function propagationErrors({ propagationPolicy, orphanDependents }: Raw): readonly FieldError[] {
  if (propagationPolicy === undefined) return [];
  const field = 'propagationPolicy';
  const both = 'orphanDependents and deletionPropagation cannot be both set';
  return [
    ...(orphanDependents === undefined ? [] : [invalidField(field, propagationPolicy, both)]),
    ...(policies.includes(propagationPolicy)
      ? []
      : [notSupported(field, propagationPolicy, [...policies, 'nil'])]),
  ];
}
