// The signatures of the ConfigMap `cluster-info`, one for each bootstrap token with usage `signing`. Upstream:
// controller/bootstrap.
import {
  clusterInfoKey,
  detachedSignature,
  isSignatureKey,
  signatureKey,
} from '../../kinds/config-map/cluster-info.ts';
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import { hasExpired, readBootstrapToken } from '../../kinds/secret/bootstrap-token.ts';
import type { Secret } from '../../kinds/secret/types.ts';
import { deepEqual } from '../../schema/equality.ts';

export type SigningFacts = {
  readonly secrets: readonly Secret[];
  readonly now: number;
  /** HMAC-SHA-256 of the text under the secret, base64url. */
  readonly mac: (secret: string, text: string) => string;
};

/** Undefined when nothing changes. */
export function desiredClusterInfo(
  actual: ConfigMap,
  { secrets, now, mac }: SigningFacts,
): ConfigMap | undefined {
  const { data = {} } = actual;
  const text = data[clusterInfoKey];
  const others = Object.entries(data).filter(([key]) => !isSignatureKey(key));
  const tokens = secrets
    .flatMap((secret) => readBootstrapToken(secret) ?? [])
    .filter((token) => token.usages.includes('signing') && !hasExpired(token, now));
  const signatures =
    text === undefined
      ? []
      : tokens.map(({ id, secret }) => [
          signatureKey(id),
          detachedSignature(text, id, (signed) => mac(secret, signed)),
        ]);
  const wanted = Object.fromEntries([...others, ...signatures]) as Record<string, string>;
  return deepEqual(wanted, data) ? undefined : { ...actual, data: wanted };
}
