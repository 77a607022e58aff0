// The file of --admission-control-config-file: an AdmissionConfiguration with the settings of plugins.
import { parseYaml } from '../../schema/yaml.ts';
import {
  defaultPodSecurity,
  type PodSecurityConfiguration,
  readPodSecurity,
} from './pod-security/configuration.ts';
import { fieldsOf, listOf, stringOf } from './read-fields.ts';

export type PluginConfiguration = { readonly podSecurity: PodSecurityConfiguration };

/** The file is invalid; the message lists all problems. */
export class AdmissionConfigurationError extends Error {
  constructor(path: string, problems: readonly string[]) {
    super(`Cannot use the admission configuration "${path}": ${problems.join('; ')}`);
    this.name = 'AdmissionConfigurationError';
  }
}

const apiVersions = ['apiserver.config.k8s.io/v1', 'apiserver.k8s.io/v1alpha1'];

/** `readOther` reads a file that the configuration refers to by path. Throws AdmissionConfigurationError. */
export async function parseAdmissionConfiguration(
  text: string,
  path: string,
  readOther: (path: string) => Promise<string>,
): Promise<PluginConfiguration> {
  const problems: string[] = [];
  const known = ['apiVersion', 'kind', 'plugins'] as const;
  const fields = fieldsOf(parse(text, path), { where: 'file', known, problems });
  if (!apiVersions.includes(String(fields.apiVersion)) || fields.kind !== 'AdmissionConfiguration')
    problems.push(`file: must be an AdmissionConfiguration of ${apiVersions[0]}`);
  let podSecurity = defaultPodSecurity;
  const names = new Set<string>();
  for (const [at, plugin] of listOf(fields.plugins, 'plugins', problems).entries()) {
    const where = `plugins[${at}]`;
    const entry = fieldsOf(plugin, {
      ...{ where, known: ['name', 'path', 'configuration'] as const, problems },
    });
    const name = stringOf(entry.name, `${where}.name`, problems);
    if (name !== 'PodSecurity')
      problems.push(`${where}.name: "${name}" takes no configuration here, only PodSecurity does`);
    if (names.has(name)) problems.push(`${where}.name: "${name}" is there twice`);
    names.add(name);
    const other = stringOf(entry.path, `${where}.path`, problems);
    if (other !== '' && entry.configuration !== undefined)
      problems.push(`${where}: has both path and configuration`);
    const document = other === '' ? entry.configuration : parse(await readOther(other), other);
    podSecurity = readPodSecurity(document, `${where}.configuration`, problems);
  }
  if (problems.length > 0) throw new AdmissionConfigurationError(path, problems);
  return { podSecurity };
}

function parse(text: string, path: string): unknown {
  const parsed = parseYaml(text);
  if ('error' in parsed) throw new AdmissionConfigurationError(path, [parsed.error]);
  if (parsed.duplicates.length > 0) throw new AdmissionConfigurationError(path, parsed.duplicates);
  return parsed.value;
}
