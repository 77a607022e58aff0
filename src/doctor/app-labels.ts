// Keys under which projects write the name of an application, and those of its parts: one or the other, seldom two.
import { appComponentLabel, appInstanceLabel, appNameLabel } from '../meta/well-known-labels.ts';

export const appNameKeys: readonly string[] = ['app', appNameLabel, 'k8s-app', 'name', 'run'];

export const appPartKeys: readonly string[] = [appComponentLabel, 'component', 'tier', 'role'];

/** What one manifest calls an application, another may call an installation or a part. */
export const namingKeys: ReadonlySet<string> = new Set([
  ...appNameKeys,
  appInstanceLabel,
  appComponentLabel,
  'component',
]);
