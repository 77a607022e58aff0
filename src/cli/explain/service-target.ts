// A Service as people name it: `svc/web`, `svc/shop/web`.
import { UsageError } from '../../flags/command.ts';
import { nameIsDnsLabel } from '../../meta/names.ts';

export type ServiceTarget = { readonly namespace?: string; readonly name: string };

const pattern = /^(?:svc|service|services)\/(?:([^/]{1,63})\/)?([^/]{1,63})$/;
const maxShown = 100;

export function serviceTarget(text: string): ServiceTarget {
  const [, namespace, name = ''] = pattern.exec(text.slice(0, 2 * maxShown)) ?? [];
  const isName = (word: string): boolean => nameIsDnsLabel(word, false).length === 0;
  if (!isName(name) || (namespace !== undefined && !isName(namespace))) {
    const shown = text.slice(0, maxShown);
    throw new UsageError(`"${shown}" is not a Service, want svc/NAME or svc/NAMESPACE/NAME`);
  }
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Its own namespace, or that of the session, which may come from a flag. */
export function inNamespace(
  { namespace, name }: ServiceTarget,
  otherwise: string,
): Required<ServiceTarget> {
  const chosen = namespace ?? otherwise;
  if (nameIsDnsLabel(chosen, false).length === 0) return { namespace: chosen, name };
  throw new UsageError(
    `--namespace: "${chosen.slice(0, maxShown)}" is not the name of a namespace`,
  );
}
