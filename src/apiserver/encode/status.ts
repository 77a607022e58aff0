// A Status as a response: for errors, and for writes that return no object.
import type { Status } from '../../meta/api-error.ts';
import { type ApiResponse, header, type VerbRequest } from '../message.ts';
import { type EncodedBody, toBodyAtOnce } from './body.ts';
import { contentType, negotiateError, type Representation } from './negotiate.ts';
import { protobufStatus } from './protobuf.ts';

/** Some answers leave the code to HTTP. */
export type SentStatus = Omit<Status, 'code'> & { readonly code?: number };

/** A Status keeps its form in every representation. */
export function encodeStatus(representation: Representation, status: SentStatus): EncodedBody {
  if (representation.format === 'protobuf') {
    return { contentType: contentType(representation), body: protobufStatus(status) };
  }
  return toBodyAtOnce(representation, Buffer.from(JSON.stringify(status)));
}

export function answerStatus(request: VerbRequest, code: number, status: SentStatus): ApiResponse {
  const representation = negotiateError(header(request, 'accept'), request.query);
  const encoded = encodeStatus(representation, status);
  return { status: code, headers: { 'content-type': encoded.contentType }, body: encoded.body };
}
