// Where a command finds its server and its credentials.
import { delimiter, join, resolve } from 'node:path';
import { UsageError, type World } from './command.ts';

export type ConnectionSource =
  | { readonly kind: 'kubeconfig'; readonly paths: readonly string[] }
  /** The service account of the pod that the command runs in. */
  | { readonly kind: 'in-cluster' };

export type SourceOptions = {
  /** --kubeconfig. */
  readonly kubeconfig?: string;
  /**
   * Also kubectl's own file, in the home directory: for commands that only read. A command that writes must be led to a cluster on purpose.
   */
  readonly mayUseHome?: boolean;
  readonly exists: (path: string) => boolean;
  readonly isInCluster: () => boolean;
};

/** The kubeconfig that `up` writes in its working directory. */
const ownKubeconfig = join('.fairlead', 'kubeconfig');
const homeKubeconfig = join('.kube', 'config');

export function connectionSource(
  { kubeconfig, mayUseHome = false, exists, isInCluster }: SourceOptions,
  { env, cwd, isKubectlPlugin = false }: Pick<World, 'env' | 'cwd' | 'isKubectlPlugin'>,
): ConnectionSource {
  const absolute = (path: string): string => resolve(cwd(), path);
  const files = (...paths: readonly string[]): ConnectionSource => ({ kind: 'kubeconfig', paths });
  if (kubeconfig !== undefined) return files(absolute(kubeconfig));
  const named = (env.KUBECONFIG ?? '')
    .split(delimiter)
    .filter((path) => path !== '')
    .map(absolute);
  const present = named.filter(exists);
  // Missing files of $KUBECONFIG are an error only when all are missing.
  if (named.length > 0) return files(...(present.length > 0 ? present : named));
  // As a plugin, only what kubectl itself would use.
  const own = isKubectlPlugin ? [] : [absolute(ownKubeconfig)];
  const home = (isKubectlPlugin || mayUseHome) && env.HOME ? [join(env.HOME, homeKubeconfig)] : [];
  const found = [...own, ...home].find(exists);
  if (found !== undefined) return files(found);
  if (isInCluster()) return { kind: 'in-cluster' };
  throw new UsageError(missingText(isKubectlPlugin, home.length > 0));
}

function missingText(isKubectlPlugin: boolean, usesHome: boolean): string {
  const home = usesHome ? [`no ${join('~', homeKubeconfig)}`] : [];
  const own = isKubectlPlugin ? [] : [`no ${ownKubeconfig} here`];
  const missing = ['no --kubeconfig', 'no $KUBECONFIG', ...own, ...home];
  const list = `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`;
  const advice = isKubectlPlugin
    ? 'Name a kubeconfig.'
    : 'Start one with `fairlead up` in this directory, or name a kubeconfig.';
  return `Cannot find a server: there is ${list}. ${advice}`;
}
