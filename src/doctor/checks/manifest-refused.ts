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
  const { source, line } = problem;
  const message = shortened(problem.message, maxMessage);
  const about = nameOf(problem);
  const position = source === '' ? {} : { source: { file: source, line } };
  return {
    about,
    message: about.kind === 'File' ? `It cannot be read: ${message}` : `It is refused: ${message}`,
    evidence: [{ object: about, field: 'manifest', value: `${source}:${line}` }],
    ...position,
  };
}

/** The server repeats what it refuses, whatever its length. */
const maxMessage = 2000;
const maxName = 253;

const shortened = (text: string, limit: number): string =>
  text.length > limit ? `${text.slice(0, limit)}...` : text;

/** A document that is no object has no name of its own. */
function nameOf({ source, kind, namespace, name }: ManifestProblem): ObjectName {
  if (kind === '') return { kind: 'File', name: shortened(source, maxName) };
  const shown = name === '' ? '(without a name)' : shortened(name, maxName);
  return namespace === undefined ? { kind, name: shown } : { kind, namespace, name: shown };
}
