// YAML takes some fifty times as long as JSON: large texts are parsed and written here, off the main thread.
import { parentPort } from 'node:worker_threads';
import { type ParsedYaml, parseYaml } from '../../schema/yaml.ts';
import { toYaml } from '../encode/yaml.ts';

export type YamlJob =
  | { readonly parse: string }
  /** JSON, to be written as YAML or with line breaks. */
  | { readonly write: Uint8Array; readonly form: 'yaml' | 'pretty' };
export type YamlResult =
  | { readonly parsed: ParsedYaml }
  | { readonly written: Uint8Array }
  | { readonly failed: string };

parentPort?.on('message', (job: YamlJob) => {
  let result: YamlResult;
  try {
    result = run(job);
  } catch (error) {
    result = { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  parentPort?.postMessage(result);
});

function run(job: YamlJob): YamlResult {
  if ('parse' in job) return { parsed: parseYaml(job.parse) };
  const value: unknown = JSON.parse(Buffer.from(job.write).toString('utf8'));
  const text = job.form === 'yaml' ? toYaml(value) : JSON.stringify(value, undefined, 2);
  return { written: Buffer.from(text) };
}
