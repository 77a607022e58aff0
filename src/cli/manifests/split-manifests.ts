// The objects of one text, each with its line, and what else is in it.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { isTextTooDeep } from '../../schema/nesting.ts';
import { parseYamlStream, type StreamedYaml } from '../../schema/yaml.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import type { ManifestProblem } from '../../snapshot/snapshot-of-manifests.ts';

export type SplitManifests = {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly ManifestProblem[];
  readonly notes: readonly string[];
};

export type TextSource = {
  readonly source: string;
  /** By the user, so that it must be a manifest; otherwise it is among others by chance. */
  readonly isNamed: boolean;
};

/** About forty times the values that a server accepts in a request: this program serves no other clients. */
const maxLexemes = 4_000_000;
/** Larger JSON is read without lines: it was printed by a program. */
const maxJsonWithLines = 1024 * 1024;
/** Lists of lists are no manifest. */
const maxListDepth = 4;

export function splitManifests(text: string, origin: TextSource): SplitManifests {
  const { source, isNamed } = origin;
  const found = streamOf(text).map((parsed) => objectsOf(parsed, origin));
  const manifests = found.flatMap((one) => ('problem' in one ? [] : one.manifests));
  const problems = found.flatMap((one) => ('problem' in one ? [one.problem] : []));
  if (isTemplate(text, { manifests, problems })) {
    const note = `${source} is a template, which has to be rendered first, for example: helm template CHART | fairlead doctor -f -`;
    return { manifests: [], problems: [], notes: [note] };
  }
  const isOther = !isNamed && manifests.length === 0 && !/^kind:|"kind"/m.test(text);
  return { manifests, problems: isOther ? [] : problems, notes: [] };
}

function streamOf(text: string): readonly StreamedYaml[] {
  const isJson = /^\s{0,100}\{/.test(text) && text.length > maxJsonWithLines;
  if (!isJson || isTextTooDeep(text)) return parseYamlStream(text, { maxLexemes });
  try {
    return [{ value: JSON.parse(text), duplicates: [], line: 1, itemLines: [] }];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return parseYamlStream(text, { maxLexemes });
  }
}

type Found = { readonly manifests: readonly Manifest[] } | { readonly problem: ManifestProblem };

function objectsOf(parsed: StreamedYaml, { source, isNamed }: TextSource): Found {
  const { line } = parsed;
  const problem = (message: string, at = line): Found => ({
    problem: { source, line: at, kind: '', name: '', message },
  });
  if ('error' in parsed) {
    const [, number] = /\bline (\d{1,9})\b/.exec(parsed.error.slice(0, maxMessage)) ?? [];
    return problem(parsed.error, number === undefined ? line : Number(number));
  }
  const { value, duplicates, itemLines } = parsed;
  const wrong = whyNoObject(value);
  if (wrong !== undefined) {
    // Values of charts, settings of other programs.
    const isOther = !isNamed && !(isJsonObject(value) && 'kind' in value && 'metadata' in value);
    return isOther ? { manifests: [] } : problem(wrong);
  }
  const objects = flatten(value as JsonObject, { line, itemLines, depth: 0 });
  return {
    manifests: objects.map((one) => ({ source, line: one.line, duplicates, object: one.object })),
  };
}

const maxMessage = 1000;

const noObject = ['an object is needed', 'apiVersion not set', 'kind not set'] as const;

export const isNoObject = (message: string): boolean => noObject.some((one) => one === message);

function whyNoObject(value: unknown): (typeof noObject)[number] | undefined {
  if (!isJsonObject(value)) return 'an object is needed';
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'apiVersion not set';
  return typeof kind !== 'string' || kind === '' ? 'kind not set' : undefined;
}

type Located = { readonly object: Manifest['object']; readonly line: number };

type Position = {
  readonly line: number;
  readonly itemLines: readonly number[];
  readonly depth: number;
};

/** The items of Lists, and of lists of one kind, such as ServiceList. */
function flatten(value: JsonObject, { line, itemLines, depth }: Position): readonly Located[] {
  const { kind, items, metadata } = value;
  if (
    typeof kind === 'string' &&
    kind.endsWith('List') &&
    Array.isArray(items) &&
    depth < maxListDepth
  ) {
    const itemKind = kind.slice(0, -'List'.length);
    return items.flatMap((item: unknown, at) => {
      if (!isJsonObject(item)) return [];
      // Servers leave kind and version out of the items of their lists.
      const named =
        itemKind === '' ? item : { apiVersion: value.apiVersion, kind: itemKind, ...item };
      if (whyNoObject(named) !== undefined) return [];
      return flatten(named, { line: itemLines[at] ?? line, itemLines: [], depth: depth + 1 });
    });
  }
  const object = { ...value, metadata: isJsonObject(metadata) ? metadata : {} };
  return [{ line, object: object as unknown as Manifest['object'] }];
}

/** Where a template puts a value: at the beginning of a line, or as a value or a part of it. */
const placeholder =
  /^[ \t]{0,200}(?:- )?(?:[\w./-]{1,200}:[ \t]+)?["']?[^\s"'{]{0,100}(?:\{\{|\{%|<%)/m;
const maxTemplateText = 1_000_000;

/** Texts that a program of an object contains may look the same: then the objects are well. */
function isTemplate(
  text: string,
  { manifests, problems }: Pick<SplitManifests, 'manifests' | 'problems'>,
): boolean {
  const hasOddName = manifests.some(({ object: { metadata, kind } }) =>
    [metadata.name, metadata.namespace, kind].some(
      (name: unknown) =>
        name !== undefined &&
        (typeof name !== 'string' || /\{\{|\$\{|\{%|<%/.test(name.slice(0, maxMessage))),
    ),
  );
  if (hasOddName) return true;
  return problems.length > 0 && placeholder.test(text.slice(0, maxTemplateText));
}
