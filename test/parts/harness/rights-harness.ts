// A server with RBAC and an audit log, and parts that act as service accounts with the rights of a manifest and no others. Time stands
// still until a test moves it.
import { parseAuditPolicy } from '../../../src/apiserver/audit/policy.ts';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { failureAnswer } from '../../../src/client/example.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { createFakeClock, type FakeClock } from '../../../src/host/fake-clock.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import type { Right } from '../../../src/kinds/rbac/rights.ts';
import { groupVersion, type KubeObject } from '../../../src/meta/object.ts';
import { parseYamlStream } from '../../../src/schema/yaml.ts';
import { type MemoryServer, type MemoryServerOptions, startMemoryServer } from './memory-server.ts';
import { manifestText } from './role-manifests.ts';

export type AuditLine = {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
  readonly annotations?: Readonly<Record<string, string>>;
};

export type RightsHarness = {
  readonly server: MemoryServer;
  readonly clock: FakeClock;
  readonly lines: AuditLine[];
  /** Applies the manifest's text, in which nothing may be there already. */
  readonly apply: (text: string) => Promise<void>;
  /** Makes the account and gives it these rights alone. */
  readonly grant: (account: string, rights: readonly Right[]) => Promise<void>;
  readonly sendAs: (account: string) => Transport['send'];
  readonly stop: () => Promise<void>;
};

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata}
`;

export const accountUser = (account: string): string =>
  `system:serviceaccount:kube-system:${account}`;

export async function startRightsHarness(
  clock: FakeClock = createFakeClock(Date.parse('2026-01-01T00:00:00Z')),
  access: MemoryServerOptions['access'] = {},
): Promise<RightsHarness> {
  const lines: AuditLine[] = [];
  const log = {
    write: (line: string) => lines.push(JSON.parse(line) as AuditLine),
    close: () => Promise.resolve(),
  };
  const server = await startMemoryServer({
    clock,
    access: { ...access, audit: { policy: parseAuditPolicy(policy, 'policy'), log } },
  });
  const apply = async (text: string): Promise<void> => {
    for (const document of parseYamlStream(text)) {
      if ('error' in document) throw new Error(document.error);
      const object = document.value as KubeObject;
      await server.api.post(`${collectionOf(object)}?fieldValidation=Strict`, object);
    }
  };
  return {
    server,
    clock,
    lines,
    apply,
    grant: (account, rights) =>
      apply(
        manifestText({
          file: '',
          comment: '',
          account,
          grants: [{ name: account, account, rights }],
        }),
      ),
    sendAs: (account) =>
      createLocalCall(server.server.handle, {
        user: accountUser(account),
        groups: [
          'system:serviceaccounts',
          'system:serviceaccounts:kube-system',
          'system:authenticated',
        ],
      }),
    stop: server.stop,
  };
}

function collectionOf({ apiVersion, kind, metadata }: KubeObject): string {
  const found = allKinds.find(
    (one) => one.kind === kind && groupVersion(one.group, one.version) === apiVersion,
  );
  if (found === undefined) throw new Error(`there is no ${kind}`);
  const root = found.group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  return `${root}${found.namespaced ? `/namespaces/${metadata.namespace}` : ''}/${found.plural}`;
}

/** A server that cannot stream lists: informers list first, and need the right to it. */
export const withoutStreams =
  (send: Transport['send']): Transport['send'] =>
  (request) =>
    request.path.includes('sendInitialEvents')
      ? Promise.resolve(failureAnswer(422, 'Invalid'))
      : send(request);

export const describeLine = ({ verb, objectRef, requestURI }: AuditLine): string =>
  objectRef === undefined
    ? `${verb} ${requestURI}`
    : `${verb} ${objectRef.resource}${objectRef.subresource === undefined ? '' : `/${objectRef.subresource}`}${objectRef.apiGroup === undefined ? '' : `.${objectRef.apiGroup}`}`;

/** What authorization refused; admission also refuses, as in a namespace that goes. */
export const refusals = (lines: readonly AuditLine[], account: string): readonly string[] => [
  ...new Set(
    lines
      .filter(({ user }) => user.username === accountUser(account))
      .filter(({ annotations }) => annotations?.['authorization.k8s.io/decision'] === 'forbid')
      .map((line) => `${line.objectRef?.namespace ?? ''} ${describeLine(line)}`),
  ),
];

/** Every verb on every resource of the rights that the account never used. */
export function unused(
  lines: readonly AuditLine[],
  account: string,
  rights: readonly Right[],
): readonly string[] {
  const own = lines.filter(({ user }) => user.username === accountUser(account));
  return rights
    .filter(({ onlyElsewhere }) => onlyElsewhere === undefined)
    .flatMap((right) =>
      right.verbs.flatMap((verb) =>
        right.resources
          .filter(
            (resource) => !own.some((line) => line.verb === verb && fits(line, right, resource)),
          )
          .map((resource) => `${verb} ${resource}${right.group === '' ? '' : `.${right.group}`}`),
      ),
    );
}

function fits({ objectRef }: AuditLine, right: Right, resource: string): boolean {
  if (objectRef === undefined) return false;
  const { apiGroup = '', subresource, namespace, name } = objectRef;
  const requested =
    subresource === undefined ? objectRef.resource : `${objectRef.resource}/${subresource}`;
  return (
    (right.group === '*' || right.group === apiGroup) &&
    (resource === '*' || resource === requested || resource === `*/${subresource}`) &&
    (right.namespace === undefined || right.namespace === namespace) &&
    (right.names === undefined || (name !== undefined && right.names.includes(name)))
  );
}
