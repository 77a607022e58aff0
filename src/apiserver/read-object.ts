// The body of a request as an object of the kind that its path asks for.
import type { KubeObject } from '../meta/object.ts';
import type { ApiContext } from './context.ts';
import { type BodyKind, decodeBody } from './decode-body.ts';
import { type ApiRequest, header } from './message.ts';
import type { FieldValidation } from './write-options.ts';

type Asked = {
  readonly context: ApiContext;
  readonly request: ApiRequest;
  readonly warn: (text: string) => void;
};

export async function readObject(
  { context, request, warn }: Asked,
  kind: BodyKind,
  { fieldValidation }: { readonly fieldValidation: FieldValidation },
): Promise<KubeObject> {
  return decodeBody({
    body: await request.body(),
    contentType: header(request, 'content-type') ?? '',
    kind,
    known: context.resources.definitions,
    fieldValidation,
    warn,
  });
}
