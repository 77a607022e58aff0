// `--fix`: shows what each patch would change, asks, and applies it. The server makes the change twice: first without storing it, and what
// is shown is its answer; then with the version that was shown as a condition, so that nothing else can be changed than what was agreed to.
import { missingRight } from '../../client/missing-rights.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import type { Patch } from '../../doctor/check.ts';
import { objectText as nameText } from '../../doctor/object-names.ts';
import type { Session } from '../../flags/client-flags.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { isApiError, isConflict, isNotFound, notFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { printable, printableLines } from '../../meta/printable.ts';
import { isJsonObject } from '../../schema/json-object.ts';
import { namesOf } from '../../snapshot/read-snapshot.ts';
import { allSnapshotKinds, snapshotKinds } from '../../snapshot/snapshot.ts';
import { lineDiff } from '../output/line-diff.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';
import type { PlannedFix } from './plan-fixes.ts';

export type FixOptions = {
  /** Does not ask. */
  readonly isAgreed: boolean;
};

/** In a namespace where writers never rest, a person would be asked forever. */
const maxAttempts = 3;

type Counts = { applied: number; left: number };

/** How many were applied, and how many were not, for whatever reason. */
export async function runFixes(
  fixes: readonly PlannedFix[],
  { isAgreed }: FixOptions,
  { session, world }: { readonly session: Session; readonly world: World },
): Promise<Counts> {
  checkCanAsk(isAgreed, world);
  const counts: Counts = { applied: 0, left: 0 };
  const asking = { isAgreed, hasQuit: false };
  for (const fix of fixes) {
    if (asking.hasQuit || world.interrupted.aborted) {
      counts.left += 1;
      continue;
    }
    const isApplied = await runFix(fix, asking, { session, world });
    counts[isApplied ? 'applied' : 'left'] += 1;
  }
  return counts;
}

/** Before anything is read: a script must not learn it after a minute. */
export function checkCanAsk(isAgreed: boolean, world: World): void {
  if (isAgreed || world.readLine !== undefined) return;
  throw new UsageError('--fix: there is no terminal at which to ask, want --yes');
}

type Asking = { isAgreed: boolean; hasQuit: boolean };
type Context = { readonly session: Session; readonly world: World };

async function runFix(
  { finding, patch }: PlannedFix,
  asking: Asking,
  { session, world }: Context,
): Promise<boolean> {
  const target = nameText(patch.target);
  const client = clientOf(patch, session);
  world.write(printableLines(`\n${target}  ${finding.code}\n  ${finding.message}\n`));
  if (client === undefined) return false;
  const say = (text: string): false => {
    world.write(`  ${printable(text)}\n`);
    return false;
  };
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    try {
      const { before, after } = await tryPatch(client, patch, world);
      const lines = lineDiff(shownText(before), shownText(after));
      if (lines.length === 0) return say('It is so already');
      world.write(coloured(lines, world));
      if (!asking.isAgreed && !(await ask(asking, world))) return false;
      await client.patch(nameOf(patch), conditioned(patch, before), { type: patch.type });
      world.write('  Applied\n');
      return true;
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (!isConflict(error)) return say(`Not applied: ${reasonOf(error, target)}`);
      say('It was changed meanwhile:');
    }
  }
  return say('Not applied: it changes all the time');
}

/** Undefined for kinds that no finding patches. */
function clientOf({ target }: Patch, { caller }: Session): ResourceClient<KubeObject> | undefined {
  const kind = allSnapshotKinds.find((one) => snapshotKinds[one].kind === target.kind);
  return kind === undefined ? undefined : resourceClient<KubeObject>(caller, namesOf(kind));
}

function nameOf({ target: { namespace, name } }: Patch) {
  return namespace === undefined ? { name } : { namespace, name };
}

type Tried = { readonly before: KubeObject; readonly after: KubeObject };

async function tryPatch(
  client: ResourceClient<KubeObject>,
  patch: Patch,
  { interrupted: signal }: World,
): Promise<Tried> {
  const before = await find(client, patch, signal);
  const after = await client.patch(nameOf(patch), conditioned(patch, before), {
    ...{ type: patch.type, dryRun: true, signal },
  });
  return { before, after };
}

/** By a list, which needs no other right than looking did. */
async function find(
  client: ResourceClient<KubeObject>,
  { target: { kind, namespace, name } }: Patch,
  signal: AbortSignal,
): Promise<KubeObject> {
  const { items } = await client.list({
    fieldSelector: `metadata.name=${name}`,
    ...(namespace === undefined ? {} : { namespace }),
    signal,
  });
  const [found] = items;
  if (found === undefined) throw notFound({ group: '', resource: kind.toLowerCase() }, name);
  return found;
}

/** The same object, unchanged since it was read: else the server answers with a conflict. */
function conditioned({ body }: Patch, { metadata: { uid, resourceVersion } }: KubeObject): object {
  const metadata = 'metadata' in body && isJsonObject(body.metadata) ? body.metadata : {};
  return { ...body, metadata: { ...metadata, uid, resourceVersion } };
}

/** Without what every write changes. */
function shownText({ metadata, ...rest }: KubeObject): string {
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _generation,
    ...shown
  } = metadata;
  return objectText({ ...rest, metadata: shown }, 'yaml');
}

function coloured(lines: readonly string[], world: World): string {
  const { red, green, dim } = paintFor(world);
  return lines
    .map((line) => {
      const text = `  ${printable(line)}`;
      return `${line.startsWith('-') ? red(text) : line.startsWith('+') ? green(text) : dim(text)}\n`;
    })
    .join('');
}

/** Until there is an answer that means something. */
async function ask(asking: Asking, { write, readLine }: World): Promise<boolean> {
  for (;;) {
    write('  Apply? [y]es, [n]o, [a]ll, [q]uit: ');
    // The end of the input, and Ctrl-C, mean quit.
    const answer = (await readLine?.())?.trim().toLowerCase().slice(0, 1) ?? 'q';
    if (answer === 'a') asking.isAgreed = true;
    if (answer === 'y' || answer === 'a') return true;
    if (answer === 'q') asking.hasQuit = true;
    if (answer === 'n' || answer === 'q') return false;
  }
}

function reasonOf(error: { readonly message: string } & Error, target: string): string {
  const right = missingRight(error.message);
  if (right !== undefined) {
    const where = right.namespace === '' ? '' : ` in namespace ${right.namespace}`;
    return `user "${right.user}" needs the right to ${right.verb} ${right.resource}${where}`;
  }
  return isNotFound(error) ? `${target} is not there any more` : error.message;
}
