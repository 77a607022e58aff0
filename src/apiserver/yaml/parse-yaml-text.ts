// Parses YAML of a request. Text that is JSON at the same time, as most that clients apply, is parsed as JSON.
import { oddNumber } from '../../schema/decode.ts';
import { findDuplicateFields } from '../../schema/duplicates.ts';
import { isTextTooDeep } from '../../schema/nesting.ts';
import { findExcess } from '../../schema/value-count.ts';
import { type ParsedYaml, parseYaml } from '../../schema/yaml.ts';
import { checkValues } from '../limits/check-values.ts';
import { runYamlJob } from './yaml-thread.ts';

/** Longer ones take more than a few milliseconds. */
const maxInlineLength = 16 * 1024;

export async function parseYamlText(text: string): Promise<ParsedYaml> {
  if (text.length <= maxInlineLength) return parseYaml(text);
  const value = plainJson(text);
  if (value !== undefined) return { value, duplicates: [] };
  const result = await runYamlJob({ parse: text });
  if ('parsed' in result) {
    if ('value' in result.parsed) checkValues(result.parsed.value);
    return result.parsed;
  }
  throw new Error('failed' in result ? result.failed : 'no answer from the YAML thread');
}

/** Undefined for text that is not JSON, or that YAML would parse differently or refuse. */
function plainJson(text: string): unknown {
  if (!/^\s{0,64}\{/.test(text) || isTextTooDeep(text)) return undefined;
  if (findExcess(text) !== undefined) return undefined;
  if (oddNumber.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return findDuplicateFields(text).length === 0 ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
