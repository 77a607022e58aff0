// Whether the files of a directory mean what they say, or only what kustomize makes of them.
import { isJsonObject } from '../../schema/json-object.ts';
import { parseYaml } from '../../schema/yaml.ts';

export const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** Fields that leave the objects as they are, as far as Services are concerned. */
const harmlessFields: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'resources',
  'images',
  'commonAnnotations',
  'configMapGenerator',
  'secretGenerator',
  'generatorOptions',
  'sortOptions',
  'openapi',
  'crds',
]);

/** Patches, prefixes and namespaces change what the files say. */
export function isKustomized(text: string): boolean {
  const parsed = parseYaml(text);
  if ('error' in parsed || !isJsonObject(parsed.value)) return true;
  const { resources } = parsed.value;
  // Bases elsewhere are not among the files.
  const hasBases =
    Array.isArray(resources) &&
    resources.some(
      (one) => typeof one === 'string' && (one.startsWith('..') || one.includes('://')),
    );
  return hasBases || Object.keys(parsed.value).some((field) => !harmlessFields.has(field));
}
