// The patches among findings, each once, in the order of the findings.
import type { Finding, Patch } from '../../doctor/check.ts';
import { objectId } from '../../doctor/object-names.ts';

export type PlannedFix = { readonly finding: Finding; readonly patch: Patch };

export function planFixes(findings: readonly Finding[]): readonly PlannedFix[] {
  const seen = new Set<string>();
  return findings.flatMap((finding) => {
    const patch = finding.fix?.patch;
    // Notes are no reason to change a cluster.
    if (patch === undefined || finding.severity === 'info') return [];
    const key = `${objectId(patch.target)} ${patch.type} ${JSON.stringify(patch.body)}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ finding, patch }];
  });
}
