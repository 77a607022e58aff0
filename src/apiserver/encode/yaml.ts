// Plain JSON as YAML in the form that Kubernetes writes: keys in order, lists not indented.
import { stringify } from 'yaml';

export function toYaml(value: unknown): string {
  return stringify(value, {
    // YAML 1.1, so that readers of either version see the same: `yes` and `on` are quoted.
    version: '1.1',
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}
