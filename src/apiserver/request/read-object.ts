// The body of a request as an object of the kind of its path.
import type { KubeObject } from '../../meta/object.ts';
import type { ApiContext } from '../context.ts';
import type { Pace } from '../limits/pace.ts';
import { header, type VerbRequest } from '../message.ts';
import { type BodyKind, decodeBody } from './decode-body.ts';
import type { FieldValidation } from './write-options.ts';

type BodyRequest = {
  readonly context: ApiContext;
  readonly request: VerbRequest;
  readonly warn: (text: string) => void;
  readonly pace: Pace;
};

export async function readObject(
  { context, request, warn, pace }: BodyRequest,
  kind: BodyKind,
  { fieldValidation }: { readonly fieldValidation: FieldValidation },
): Promise<KubeObject> {
  const body = await request.body();
  pace.grow(body.length);
  return decodeBody({
    body,
    contentType: header(request, 'content-type') ?? '',
    kind,
    known: context.resources.definitions,
    fieldValidation,
    warn,
    pace,
  });
}
