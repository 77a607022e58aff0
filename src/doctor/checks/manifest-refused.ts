import type { ManifestProblem } from '../../snapshot/snapshot-of-manifests.ts';
import type { ClusterCheck, ClusterSymptom, ObjectName } from '../check.ts';

export const manifestRefused: ClusterCheck = {
  code: 'FL0804',
  severity: 'error',
  title: 'The API server would refuse the object',
  scope: 'cluster',
  needs: [],
  find: ({ manifests, isInScope }) =>
    (manifests?.problems ?? [])
      .filter(({ namespace }) => namespace === undefined || isInScope(namespace))
      .map(symptom),
};

function symptom(problem: ManifestProblem): ClusterSymptom {
  const { source, line, message } = problem;
  const about = nameOf(problem);
  const position = source === '' ? {} : { source: { file: source, line } };
  return {
    about,
    message: about.kind === 'File' ? `It cannot be read: ${message}` : `It is refused: ${message}`,
    evidence: [{ object: about, field: 'manifest', value: `${source}:${line}` }],
    ...position,
  };
}

/** A document that is no object has no name of its own. */
function nameOf({ source, kind, namespace, name }: ManifestProblem): ObjectName {
  if (kind === '') return { kind: 'File', name: source };
  const shown = name === '' ? '(without a name)' : name;
  return namespace === undefined ? { kind, name: shown } : { kind, namespace, name: shown };
}
