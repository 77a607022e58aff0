// The Secrets and ConfigMaps that a pod refers to.
import { claimsOfPod } from './claim-index.ts';
import type { Pod } from './types.ts';

export type ReferencedObjects = {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
};

/** Pod objects are immutable, so the result is cached by object. */
const known = new WeakMap<Pod, ReferencedObjects>();

export function referencedObjects(pod: Pod): ReferencedObjects {
  let found = known.get(pod);
  if (found === undefined) {
    found = collect(pod);
    known.set(pod, found);
  }
  return found;
}

function collect(pod: Pod): ReferencedObjects {
  const { spec } = pod;
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  const env = containers.flatMap((container) => container.env ?? []);
  const envFrom = containers.flatMap((container) => container.envFrom ?? []);
  const sources = (spec.volumes ?? []).flatMap(
    ({ name: _name, ...source }) => Object.values(source) as readonly VolumeSource[],
  );
  const projected = sources.flatMap((source) => source?.sources ?? []);
  return {
    secrets: names([
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...sources.flatMap((source) => [
        source?.secretName,
        source?.secretRef?.name,
        source?.nodePublishSecretRef?.name,
      ]),
      ...projected.map(({ secret }) => secret?.name),
    ]),
    configMaps: names([
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...(spec.volumes ?? []).map(({ configMap }) => configMap?.name),
      ...projected.map(({ configMap }) => configMap?.name),
    ]),
    claims: names(claimsOfPod(pod)),
  };
}

type Named = { readonly name?: string };

/** Fields of volume sources that name Secrets, including the sources of a projected volume. */
type VolumeSource =
  | {
      readonly secretName?: string;
      readonly secretRef?: Named;
      readonly nodePublishSecretRef?: Named;
      readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] | null;
    }
  | undefined;

function names(all: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(all.filter((name) => name !== undefined && name !== '') as string[]);
}
