// Registry credentials must be a JSON object. The messages are those of Go's decoder.
import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { goJsonParseError } from '../../schema/go-json-error.ts';

const redacted = '<secret contents redacted>';

export function validateDockerConfig(
  data: Readonly<Record<string, string>>,
  key: string,
): readonly FieldError[] {
  const encoded = data[key];
  if (encoded === undefined) return [required(`data[${key}]`)];
  const problem = jsonObjectProblem(Buffer.from(encoded, 'base64').toString('utf8'));
  return problem === undefined ? [] : [invalid(`data[${key}]`, redacted, problem)];
}

function jsonObjectProblem(text: string): string | undefined {
  const syntax = goJsonParseError(text);
  if (syntax !== '') return syntax;
  const type = typeName(JSON.parse(text));
  return type === undefined
    ? undefined
    : `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

/** Null and objects decode into a map. */
function typeName(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'object' ? undefined : typeof value;
}
