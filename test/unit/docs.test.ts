// What the documents list must be what the code has. With FAIRLEAD_UPDATE_DOCS=1 the lists are written anew.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Command, Option } from 'commander';
import type { World } from '../../src/cli/command.ts';
import { createProgram } from '../../src/cli/main.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { groupVersion } from '../../src/meta/object.ts';

const world: World = {
  write: () => {},
  writeError: () => {},
  env: {},
  cwd: () => '/',
  now: () => 0,
  startedAt: 0,
  interrupted: new AbortController().signal,
};

test('docs/reference/command-line.md lists the commands and flags there are', async () => {
  const program = await createProgram(world);
  const commands = program.commands.map(describeCommand);
  compare('docs/reference/command-line.md', `# Command line\n\n${commands.join('\n')}`);
});

test('docs/reference/kinds.md lists the kinds there are', () => {
  const rows = allKinds.map((kind) => {
    const subresources = (kind.subresources ?? []).map((s) => s.name).join(', ');
    const scope = kind.namespaced ? 'namespace' : 'cluster';
    return `| ${kind.kind} | ${groupVersion(kind.group, kind.version)} | ${kind.plural} | ${(kind.shortNames ?? []).join(', ')} | ${scope} | ${subresources} |`;
  });
  const head =
    '| kind | version | resource | short | scope | subresources |\n| --- | --- | --- | --- | --- | --- |';
  compare('docs/reference/kinds.md', `# Kinds\n\n${head}\n${rows.join('\n')}\n`);
});

test('links between documents lead somewhere', () => {
  const documents = readdirSync('.', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !/^(node_modules|dist|test\/conformance)\//.test(file),
  );
  const broken = documents.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(join(dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

function describeCommand(command: Command): string {
  const words = command.registeredArguments.map((a) =>
    a.required ? `<${a.name()}${a.variadic ? '...' : ''}>` : `[${a.name()}]`,
  );
  const usage = ['fairlead', command.name(), ...words].join(' ');
  const usual = ({ defaultValueDescription: text }: Option): string =>
    text === undefined ? '' : ` (default: ${text})`;
  const flags = command.options.map(
    (o) => `| \`${o.flags}\` | ${o.description.replaceAll('|', '\\|')}${usual(o)} |`,
  );
  const table = flags.length === 0 ? [] : ['', '| flag | meaning |', '| --- | --- |', ...flags];
  return [
    `## \`${usage}\``,
    '',
    `${command.description()}.`,
    ...table,
    ...command.commands.map((c) => `\n${describeCommand(c)}`),
    '',
  ].join('\n');
}

function compare(file: string, wanted: string): void {
  if (process.env.FAIRLEAD_UPDATE_DOCS === '1') writeFileSync(file, wanted);
  assert.equal(
    readFileSync(file, 'utf8'),
    wanted,
    `${file} is stale: run the unit tests with FAIRLEAD_UPDATE_DOCS=1`,
  );
}
