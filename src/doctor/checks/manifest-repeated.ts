import type { ClusterCheck } from '../check.ts';

export const manifestRepeated: ClusterCheck = {
  code: 'FL0805',
  severity: 'warning',
  title: 'An object is in the manifests twice',
  scope: 'cluster',
  needs: [],
  find: ({ manifests, isInScope }) =>
    (manifests?.repeated ?? [])
      .filter(({ about: { namespace } }) => namespace === undefined || isInScope(namespace))
      .map(({ about, first, second }) => ({
        about,
        // Files for several environments have the same objects.
        severity: first.file === second.file ? 'warning' : 'info',
        message: `It is at ${first.file}:${first.line} as well, and what is applied last counts`,
        evidence: [
          { object: about, field: 'manifest', value: `${first.file}:${first.line}` },
          { object: about, field: 'manifest', value: `${second.file}:${second.line}` },
        ],
        fix: { sentence: 'Give one of them another name, or remove it' },
        source: second,
      })),
};
