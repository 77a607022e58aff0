// The manifests of this project: of its examples, and of its deployment documents.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export type HealthyManifests = {
  readonly name: string;
  readonly manifests: string;
  /** Objects that they need are elsewhere: as a cluster they would not be healthy. */
  readonly isPart?: boolean;
};

const folders = ['examples', 'docs/deploy/kubernetes'];

/** Each folder as a whole, and each file alone. */
export function projectManifests(): readonly HealthyManifests[] {
  const files = folders.flatMap(filesBelow);
  const whole = folders.map((name) => ({ name, manifests: textOf(filesBelow(name)) }));
  return [...whole, ...files.map((name) => ({ name, manifests: textOf([name]), isPart: true }))];
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.yaml') && statSync(path).isFile())
    .sort();
}

const textOf = (paths: readonly string[]): string =>
  paths.map((path) => `---\n${readFileSync(path, 'utf8')}\n`).join('');
