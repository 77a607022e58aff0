// Converts a JSON response to YAML or indented JSON, on a worker thread.
import type { ApiResponse } from '../message.ts';
import { runYamlJob } from './yaml-thread.ts';

type Converted = Pick<ApiResponse, 'body' | 'convert'>;

export async function convertBody<T extends Converted>(answer: T): Promise<T> {
  const { convert: form, body } = answer;
  if (form === undefined || !(body instanceof Uint8Array)) return answer;
  const result = await runYamlJob({ write: body, form });
  if (!('written' in result)) throw new Error('failed' in result ? result.failed : 'no text');
  return { ...answer, body: Buffer.from(result.written), convert: undefined };
}
