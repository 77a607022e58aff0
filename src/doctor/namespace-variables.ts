// The variables for Services that containers of a namespace get, made once for all of them.
import { serviceVariables, type Variables } from '../node/environment/service-variables.ts';
import type { Cluster } from './subject.ts';

export function namespaceVariables(
  cluster: Cluster,
  namespace: string,
  hasServiceLinks: boolean,
): Variables {
  const known = cluster.once(knownVariables);
  const key = `${namespace} ${hasServiceLinks}`;
  const found =
    known.get(key) ??
    serviceVariables({
      ...{ namespace, hasServiceLinks },
      // Those of the API server's own Service are in every namespace.
      services: [
        ...cluster.index.servicesIn(namespace),
        ...(namespace === 'default' ? [] : cluster.index.servicesIn('default')),
      ],
    });
  known.set(key, found);
  return found;
}

const knownVariables = (): Map<string, Variables> => new Map();
