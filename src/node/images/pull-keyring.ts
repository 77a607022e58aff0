// The credentials of a pod for registries: its Secrets of the types for images. Upstream: pkg/credentialprovider/secrets.

import type { Keyring } from '../../images/keyring.ts';
import { DockerConfigError, parseDockerConfig } from '../../images/parse-docker-config.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Secret } from '../../kinds/secret/types.ts';
import type { NodeParts } from '../node-parts.ts';

/** Secrets that are missing or damaged are reported; the pull is tried without them. */
export async function pullKeyring(
  { readSecret, events, images }: NodeParts,
  pod: Pod,
): Promise<Keyring> {
  const names = (pod.spec.imagePullSecrets ?? []).flatMap(({ name }) => (name ? [name] : []));
  const namespace = pod.metadata.namespace ?? '';
  const rings = await Promise.all(
    names.map(async (name) => keyringOf(await readSecret(namespace, name))),
  );
  const missing = names.filter((_, index) => rings[index] === undefined);
  if (missing.length > 0) {
    events.record(pod, {
      type: 'Warning',
      reason: 'FailedToRetrieveImagePullSecret',
      message: `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`,
    });
  }
  return [...rings.flatMap((ring) => ring ?? []), ...(images?.keyring() ?? [])];
}

/** Undefined for a Secret that is missing or has no credentials that can be read. */
function keyringOf(secret: Secret | undefined): Keyring | undefined {
  const { data = {} } = secret ?? {};
  const [text] = ['.dockerconfigjson', '.dockercfg'].flatMap((key) => data[key] ?? []);
  if (text === undefined) return undefined;
  try {
    return parseDockerConfig(Buffer.from(text, 'base64').toString('utf8'));
  } catch (error) {
    if (error instanceof DockerConfigError) return undefined;
    throw error;
  }
}
