// `--fix` with manifests: files are not changed, because comments and order would be lost; the changes are printed.
import { applyMergePatch } from '../../apiserver/patch/merge-patch.ts';
import { applyStrategicMerge } from '../../apiserver/patch/strategic-merge.ts';
import type { Patch } from '../../doctor/check.ts';
import { objectText as nameText, objectId } from '../../doctor/object-names.ts';
import type { World } from '../../flags/command.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { printable } from '../../meta/printable.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { lineDiff } from '../output/line-diff.ts';
import { objectText } from '../output/print.ts';
import type { PlannedFix } from './plan-fixes.ts';

export type Printing = {
  readonly manifests: readonly Manifest[];
  /** Of objects that name none. */
  readonly namespace: string;
};

export function printFixes(
  fixes: readonly PlannedFix[],
  { manifests, namespace }: Printing,
  { write }: World,
): void {
  for (const { finding, patch } of fixes) {
    const id = objectId(patch.target);
    const manifest = manifests.find(({ object: { kind, metadata } }) =>
      [metadata.namespace ?? namespace, ''].some(
        (scope) => objectId({ kind, namespace: scope, name: metadata.name ?? '' }) === id,
      ),
    );
    if (manifest === undefined) continue;
    const after = patched(manifest, patch);
    const lines = lineDiff(objectText(manifest.object, 'yaml'), objectText(after, 'yaml'));
    const position = `${manifest.source}:${manifest.line}`;
    write(`\n${printable(`${nameText(patch.target)} (${position})  ${finding.code}`)}\n`);
    write(lines.map((line) => `  ${printable(line)}\n`).join(''));
  }
}

/** Lists of objects have keys in the schema of their kind; only Services have such patches. */
const patched = ({ object }: Manifest, { type, body }: Patch): unknown =>
  type === 'merge'
    ? applyMergePatch(object, body)
    : applyStrategicMerge(serviceDefinition.schema, object, body);
